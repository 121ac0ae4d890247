"""
Properties split by columns equal those split one by one.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.record_properties import properties_of
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.usefixtures("each_implementation")

EXAMPLES = settings(max_examples=300, derandomize=True, deadline=None)
NAMES = (b"A", b"TAGS", b"KEYS")
pieces = st.sampled_from(
    [*NAMES, b"", b"TAGSX", b"v", b"\x01", b"\x02", b"\0", b"\xc3\xa9"]
)
texts = st.lists(st.lists(pieces, max_size=9).map(b"".join), max_size=6)
gaps = st.binary(max_size=3)


def _value(text: bytes, name: bytes) -> bytes:
    """Return the last value of the property *name* of *text*, or nothing."""
    properties = decode_properties(text.decode("latin-1"), splits_once=True)
    return properties.get(name.decode(), "").encode("latin-1")


def _is_broken(text: bytes) -> bool:
    pairs = text.count(b"\x02") + (not text.endswith(b"\x02"))
    return bool(text) and (text.count(b"\x01") != pairs or b"\0" in text)


@EXAMPLES
@given(texts=texts, gap=gaps)
def test_properties_of_many_records_are_those_of_each(
    texts: list[bytes], gap: bytes
) -> None:
    data = gap.join([b"", *texts, b""])
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    begins = np.cumsum(sizes + len(gap)) - sizes
    found = properties_of(data, begins, begins + sizes, NAMES)
    assert [data[b : b + s] for b, s in zip(begins, sizes, strict=True)] == texts
    broken = [index for index, text in enumerate(texts) if _is_broken(text)]
    assert found.broken.tolist() == broken
    for name in NAMES:
        at, size, _, _ = found.values[name]
        values = [found.text[b : b + s] for b, s in zip(at, size, strict=True)]
        assert values == [_value(text, name) for text in texts]
    if found.is_regular:
        parts = [text.removesuffix(b"\x02").split(b"\x02") for text in texts if text]
        assert all(one.count(b"\x01") == 1 for part in parts for one in part)
