"""
Numbers and message ids in many texts are those of each text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.gather import Places
from columns.numbers.by_key import NOTHING
from columns.numbers.texts import are_ids, numbers_in
from spark_checks.counting_rules import OP_DIGITS_MAX
from spark_checks.survey.system_topic_records import numbers_listed

EXAMPLES = settings(max_examples=200, derandomize=True, deadline=None)
digits = st.text("0123456789,", max_size=24).map(str.encode)
hexadecimal = st.text("0123456789abcdefABCDEFg", min_size=31, max_size=57)
texts = st.lists(
    st.one_of(digits, hexadecimal.map(str.encode), st.binary(max_size=40)), max_size=12
)


def laid_out(each: Sequence[bytes]) -> tuple[bytes, Places]:
    """Return *each* end to end."""
    sizes = np.array([len(text) for text in each], dtype=np.int64)
    return b"".join(each), (np.cumsum(sizes) - sizes, sizes)


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


@EXAMPLES
@given(each=texts)
def test_listed_numbers_are_those_of_each_list(each: list[bytes]) -> None:
    form = re.compile(rb"[0-9]{1,%d}" % OP_DIGITS_MAX)
    wanted = [
        (index, int(one) if form.fullmatch(one) else NOTHING)
        for index, text in enumerate(each)
        for one in text.removesuffix(b",").split(b",")
    ]
    index, numbers = numbers_listed(*laid_out(each))
    assert list(zip(index.tolist(), numbers.tolist(), strict=True)) == wanted
