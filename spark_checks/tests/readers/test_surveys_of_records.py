"""
Kernels and fallbacks make the same survey of any log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.tests.with_kernels import with_kernels, without_kernels
from spark_checks.situation import Situation
from spark_checks.survey.survey import survey_log
from spark_checks.tests.readers.compared_surveys import comparable
from spark_checks.tests.readers.drawn_records import (
    BASE,
    ORDINARY,
    WHERE,
    changed_records,
    laid_out,
)
from spec.store.message_record import Record

EXAMPLES = settings(max_examples=400, derandomize=True, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def _pairs() -> Iterator[None]:
    with with_kernels():
        yield


def surveyed(data: bytes, situation: Situation) -> tuple[object, ...]:
    """Return the comparable result of a file's survey."""
    where = replace(WHERE, file_size=len(data), end=len(data))
    return comparable(
        survey_log(lambda at, size: data[at : at + size], where, situation)
    )


@EXAMPLES
@given(
    first=st.sampled_from(
        [ORDINARY, ORDINARY, replace(ORDINARY, stored_at_ms=-(2**63))]
    ),
    records=st.lists(changed_records(), max_size=8),
    bytes_changed=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=2),
    ranges=st.sampled_from(
        [(), ((BASE - 1, BASE + 400),), ((0, BASE), (BASE, 2**62)), ((BASE, 2**62),)]
    ),
)
def test_whatever_a_log_has_its_survey_is_the_same(
    first: Record,
    records: list[Record],
    bytes_changed: list[tuple[float, int]],
    ranges: tuple[tuple[int, int], ...],
) -> None:
    data = bytearray(laid_out([first, *records]))
    for place, byte in bytes_changed:
        data[int(place * (len(data) - 1))] = byte
    situation = Situation(key_ranges=ranges, delays={1: 1000})
    whole = bytes(data) + bytes(200)
    assert surveyed(whole, situation) == without_kernels(
        lambda: surveyed(whole, situation)
    )
