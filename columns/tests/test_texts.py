"""
Numbers and message ids in many texts are those of each text.
"""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from columns.numbers.by_key import NOTHING
from columns.numbers.texts import are_ids, numbers_in
from columns.tests.text_places import laid_out

EXAMPLES = settings(max_examples=200, derandomize=True, deadline=None)
digits = st.text("0123456789,", max_size=24).map(str.encode)
hexadecimal = st.text("0123456789abcdefABCDEFg", min_size=31, max_size=57)
texts = st.lists(
    st.one_of(digits, hexadecimal.map(str.encode), st.binary(max_size=40)), max_size=12
)


@EXAMPLES
@given(each=texts, most=st.integers(1, 18))
def test_numbers_are_those_of_each_text(each: list[bytes], most: int) -> None:
    form = re.compile(rb"[0-9]{1,%d}" % most)
    wanted = [int(text) if form.fullmatch(text) else NOTHING for text in each]
    assert numbers_in(*laid_out(each), digits=most).tolist() == wanted


@EXAMPLES
@given(each=texts)
def test_ids_have_their_form(each: list[bytes]) -> None:
    form = re.compile(rb"[0-9A-Fa-f]{32}|[0-9A-Fa-f]{56}")
    wanted = [form.fullmatch(text) is not None for text in each]
    assert are_ids(*laid_out(each)).tolist() == wanted
