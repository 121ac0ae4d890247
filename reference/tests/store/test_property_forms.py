"""What is read by a form is what reading plainly gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.store.hashing import index_hash, tags_hash
from reference.core.store.property_forms import form_of
from reference.core.store.words import word
from spec.integers import java_string_hash

TOPIC = "topic"
PREFIX = np.array([java_string_hash(TOPIC + "#") & 0xFFFFFFFF], np.uint32)
letters = st.sampled_from(["a", "B", " ", "\x01", "\x02", "\x03", "\u00e9", "~"])
parts = st.one_of(
    st.sampled_from(["TAGS\x01", "KEYS\x01", "UNIQ_KEY\x01", "\x02", "XKEYS\x01"]),
    letters,
)
texts = st.lists(parts, min_size=1, max_size=12).map("".join)
changes = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), max_size=3)


@settings(deadline=None, max_examples=500, derandomize=True)
@given(text=texts, change=changes)
def test_what_fits_a_form_is_read_as_it_is_read_plainly(
    text: str, change: list[tuple[int, int]]
) -> None:
    first = text.encode()
    other = bytearray(first)
    for at, value in change:
        other[at % len(other)] = value
    form = form_of(first)
    if form is None:
        assert not first.isascii()
        return
    rows = np.frombuffer(first + other, np.uint8).reshape(2, -1)
    fits = form.fits(rows)
    assert fits[0]
    for row in rows[fits]:
        one = row.reshape(1, -1)
        code = form.tags_codes(one)[0]
        hashes = [int(found[0]) for found in form.key_hashes(one, PREFIX)]
        assert (code, hashes) == plainly(row.tobytes())


def test_values_of_a_form_may_vary_and_nothing_else() -> None:
    form = form_of(b"UNIQ_KEY\x01aaaa\x02WAIT\x01true\x02")
    assert form is not None
    rows = [
        b"UNIQ_KEY\x01zzzz\x02WAIT\x01nooo\x02",
        b"UNIQ_KEY\x01zz z\x02WAIT\x01true\x02",
        b"UNIQ_KEY\x01zz\x01z\x02WAIT\x01true\x02",
        b"UNIQ_KEX\x01zzzz\x02WAIT\x01true\x02",
    ]
    text = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    assert form.fits(text).tolist() == [True, False, False, False]


def plainly(properties: bytes) -> tuple[int, list[int]]:
    """Return tags code and hashes of keys, as dispatch of one record finds them."""
    words = str(properties, "utf-8", "replace")
    unique = word(words, "UNIQ_KEY")
    keys = [key for key in (word(words, "KEYS") or "").split(" ") if key]
    keys = keys if unique is None else [unique, *keys]
    return tags_hash(word(words, "TAGS") or ""), [index_hash(TOPIC, k) for k in keys]
