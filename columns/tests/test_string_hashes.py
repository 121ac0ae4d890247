"""
Texts in columns: words, Java's hashes, and equal texts.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from columns import topics
from columns.string_hashes import string_hashes
from columns.tests.text_places import laid_out
from columns.topics import first_alike
from columns.uint64_words import text_hashes
from spec.integers import java_string_hash

pytestmark = pytest.mark.usefixtures("each_implementation")

EXAMPLES = settings(max_examples=300, derandomize=True, deadline=None)
ascii_texts = st.binary(max_size=40).map(lambda some: bytes(c & 0x7F for c in some))
texts = st.lists(st.one_of(ascii_texts, st.binary(max_size=20)), max_size=12)
few = st.lists(st.sampled_from([b"", b"A", b"B", b"AB", b"Orders", 9 * b"Q", 9 * b"R"]))


@EXAMPLES
@given(each=texts)
@example(each=[b"a b", b"ab", b" ", b"\x1f", b"!", b"abcdefg h", b"\xc3\xa9"])
def test_hashes_of_ascii_strings_are_those_of_java(each: list[bytes]) -> None:
    codes, are_words = string_hashes(*laid_out(each))
    found = {at: int(codes[at]) for at in np.flatnonzero(are_words).tolist()}
    assert found == {
        at: java_string_hash(text.decode()) & 0xFFFFFFFF
        for at, text in enumerate(each)
        if text.isascii() and b" " not in text
    }


@EXAMPLES
@given(each=few)
def test_texts_have_one_hash_if_they_are_the_same(each: list[bytes]) -> None:
    hashes = text_hashes(*laid_out(each)).tolist()
    pairs = set(zip(each, hashes, strict=True))
    assert len(pairs) == len(set(each))
    assert len({code for _, code in pairs}) == len(pairs)


@EXAMPLES
@given(each=st.one_of(few, texts), bits=st.sampled_from([1, 16]))
def test_the_first_of_those_alike_is_found(each: list[bytes], bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topics, "BUCKET_BITS", bits)
        found = first_alike(*laid_out(each)).tolist()
    assert found == [each.index(text) for text in each]
