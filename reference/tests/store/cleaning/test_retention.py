"""
Files to delete by retention rules, as functions of plain values.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store.cleaning import (
    HOUR_MS,
    DiskUsage,
    Retention,
    expired_count,
    is_time_to_delete,
    parse_hours,
    rate_disk_usage,
)

NOON_MS = 12 * HOUR_MS
DAY = Retention(reserved_ms=24 * HOUR_MS, hours=frozenset({12}))
CALM = DiskUsage(is_full=False, needs_space=False, is_urgent=False)
TIMES = st.lists(st.integers(-48, 12).map(lambda hour: hour * HOUR_MS), max_size=25)


@given(
    times=TIMES,
    hour=st.integers(0, 23),
    needs_space=st.booleans(),
    is_urgent=st.booleans(),
    may_force=st.booleans(),
)
def test_what_goes_is_old_or_in_the_way(
    times: list[int],
    hour: int,
    *,
    needs_space: bool,
    is_urgent: bool,
    may_force: bool,
) -> None:
    now_ms = hour * HOUR_MS
    retention = Retention(
        reserved_ms=24 * HOUR_MS, hours=frozenset({12}), may_force=may_force
    )
    usage = DiskUsage(is_full=False, needs_space=needs_space, is_urgent=is_urgent)
    count = expired_count(times, now_ms=now_ms, usage=usage, retention=retention)
    assert 0 <= count <= min(10, max(len(times) - 1, 0))

    def may_go(changed_at_ms: int) -> bool:
        is_old = now_ms - changed_at_ms >= retention.reserved_ms
        return (hour == 12 or needs_space) and (is_old or (is_urgent and may_force))

    assert all(map(may_go, times[:count]))
    if count < min(10, len(times) - 1):
        assert not may_go(times[count])


@given(
    used=st.floats(-1, 1),
    was_full=st.booleans(),
    ratio=st.integers(10, 95).map(lambda per_cent: per_cent / 100),
)
@example(used=0.85, was_full=True, ratio=0.75)
@example(used=0.9, was_full=False, ratio=0.75)
@example(used=0.9, was_full=True, ratio=0.95)
@example(used=0.75, was_full=False, ratio=0.75)
def test_a_disk_is_judged_by_three_ratios(
    used: float, ratio: float, *, was_full: bool
) -> None:
    retention = Retention(used_ratio_max=ratio)
    usage = rate_disk_usage(used, retention, was_full=was_full)
    if used > 0.9:
        assert usage.is_full
    elif used > 0.85:
        assert usage.is_full == was_full
    else:
        assert not usage.is_full
    assert usage.is_urgent == (used > 0.85)
    assert usage.needs_space == (used > ratio or used < 0)


def test_a_file_goes_the_moment_its_time_is_over() -> None:
    times = [NOON_MS - 24 * HOUR_MS, NOON_MS - 24 * HOUR_MS + 1, 0]
    assert expired_count(times, now_ms=NOON_MS, usage=CALM, retention=DAY) == 1
    assert expired_count(times, now_ms=NOON_MS + 1, usage=CALM, retention=DAY) == 2


def test_hours_are_of_local_time() -> None:
    india = Retention(hours=frozenset({4}), zone_offset_ms=5 * HOUR_MS + HOUR_MS // 2)
    local_four = 4 * HOUR_MS - india.zone_offset_ms
    assert [
        is_time_to_delete(local_four + at, india)
        for at in (-1, 0, HOUR_MS - 1, HOUR_MS)
    ] == [
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "hours"),
    [("04", {4}), ("4;16;", {4, 16}), ("", set()), ("00;x;05", {0})],
)
def test_delete_when_names_hours(text: str, hours: set[int]) -> None:
    assert parse_hours(text) == hours
