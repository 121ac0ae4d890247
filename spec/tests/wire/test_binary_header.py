"""Fields of a ROCKETMQ header: many, and malformed ones."""

from __future__ import annotations

import pytest

from spec.layout import LayoutError
from spec.wire.remoting.header_rocketmq import decode_entries, encode_entries


def test_many_small_fields_are_decoded_at_once() -> None:
    """Parsing each by its layout would take minutes."""
    assert decode_entries(bytes(6) * 300_000) == {"": ""}


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\1a\0\0\0\1", b"\xff\xff\0\0\0\0", b"\0\0\xff", b"\0\0\xff" * 9]
)
def test_a_malformed_field_is_an_error_of_layout(data: bytes) -> None:
    good = encode_entries({"a": "b"})
    with pytest.raises(LayoutError) as error:
        decode_entries(good + data)
    assert error.value.offset >= len(good)
