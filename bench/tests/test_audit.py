"""The audit measurement: its summary of turns, and the processes it watches."""

from __future__ import annotations

import sys

import pytest

from bench.measurements.audit import (
    AuditBenchError,
    Cost,
    Spread,
    _as_point,
    goals_of,
    linearity,
)
from bench.processes.measured_process import MeasuredProcess, MeasuredProcessError


def turn(seconds: float, *, records: int = 10, peak: int = 1 << 20) -> Cost:
    return Cost(
        records=records,
        bytes=1_000_000,
        seconds=seconds,
        processor_s=seconds * 2,
        start_s=1.0,
        peak=peak,
        peaks={"driver": peak},
    )


def test_a_ratio_is_of_the_two_turns_of_a_round() -> None:
    point = _as_point([turn(1), turn(9)], [turn(2), turn(3)], turn(9), processors=2)

    assert point.ratio == Spread(median=1.75, lowest=0.5, highest=3.0)
    assert point.audit.mb_per_s_per_core == 0.2


def test_counts_that_differ_are_no_measurement() -> None:
    with pytest.raises(AuditBenchError, match="disagree"):
        _as_point([turn(1)], [turn(1, records=9)], turn(1), processors=2)


def test_the_time_per_byte_tells_whether_a_curve_is_straight() -> None:
    one, two = (_as_point([turn(1)], [turn(s)], turn(s), processors=2) for s in (2, 4))

    assert linearity([one]) is None
    assert linearity([one, two]) == 2.0


def test_more_memory_than_a_gigabyte_misses_the_goal() -> None:
    point = _as_point([turn(1)], [turn(1)], turn(1, peak=2 << 30), processors=2)

    assert [goal.met for goal in goals_of([point])] == [True, False]


def test_an_order_costs_memory_and_processor_time() -> None:
    program = "print('ready')\nfor _ in open(0): print(sum(range(2_000_000)))"
    with MeasuredProcess([sys.executable, "-uc", program]) as process:
        turn = process.order("go")

    assert turn.response == "1999999000000"
    assert turn.peak > 1 << 20
    assert turn.processor_s > 0


def test_memory_between_an_order_and_its_response_counts_if_it_is_watched() -> None:
    # The list is gone again before the response.
    program = (
        "import time\nprint('ready')\n"
        "for _ in open(0): held = bytearray(b'x' * (64 << 20)); time.sleep(0.5);"
        " del held; print('done')"
    )
    with MeasuredProcess([sys.executable, "-uc", program]) as process:
        alone, watched = (process.order("go", is_watched=one) for one in (False, True))

    assert watched.peak > alone.peak + (32 << 20)


def test_a_process_that_ends_says_why() -> None:
    with pytest.raises(MeasuredProcessError, match="no such thing"):
        MeasuredProcess([sys.executable, "-c", "raise SystemExit('no such thing')"])
