"""
Numbers listed in the bodies of op messages are those of each body.
"""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from columns.numbers.by_key import NOTHING
from columns.tests.text_places import laid_out
from spark_checks.counting_rules import OP_DIGITS_MAX
from spark_checks.survey.system_topic_records import numbers_listed

lists = st.text("0123456789,", max_size=24).map(str.encode)
texts = st.lists(st.one_of(lists, st.binary(max_size=40)), max_size=12)


@settings(max_examples=200, derandomize=True, deadline=None)
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
