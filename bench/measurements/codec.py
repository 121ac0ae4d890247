"""
Speed of decoding a recorded commit log: construct, derived decoders, Java.

Every way decodes the same bytes in the same run. Rounds are interleaved: in each round
each way has its turn, so that a busy moment of the machine does not hit one way only.
The quickest pass of a turn counts, and the median of the rounds. Goals apply to the
ratios of the rounds. The clock is the processor time of the decoding thread, which is
the elapsed time on an idle machine. Java's collector works in threads of its own, which
the clock does not count. All ways must find the same number of records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from bench.measurements.arrow_batch import as_arrow
from bench.processes.java_decoder import WAYS as JAVA_WAYS
from bench.processes.java_decoder import JavaDecoder
from bench.processes.recorded_log import RecordedLog
from bench.report.result import Ratio, Report, machine_facts, ratio_result
from columns.log_batch import read_batches
from spec.layout import parse
from spec.store.message_record import record_codec, record_layout

WARM_UP_PASSES = 40
"""Passes of Java that do not count: its compiler needs some thousand calls."""
PASSES = 7
"""Passes of a quick way in its turn; the one that was least disturbed counts."""

Pass = Callable[[], int]
"""Decodes the whole log once and returns how many records it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to decode the log."""

    id: str
    description: str
    run: Callable[[], tuple[int, float]]
    """Takes a turn; returns the records of a pass, and the seconds of the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Ratio of the speeds of two decoders, and its target."""

    way: str
    other: str
    at_least: float | None = None
    """None for a ratio without a target."""


GOALS = (
    Goal(way="struct", other="construct", at_least=20),
    Goal(way="numpy", other="java", at_least=1),
    Goal(way="arrow", other="java", at_least=1),
    Goal(way="numpy-crc", other="java-crc"),
    Goal(way="arrow-copied", other="java"),
)


class DecodedLog(Struct, frozen=True, kw_only=True):
    """The log that was decoded."""

    origin: str
    recorded_at: str
    sha256: str
    bytes: int
    records: int


class DecodedWay(Struct, frozen=True, kw_only=True):
    """Speed of one way."""

    id: str
    description: str = field(name="says")
    records_per_s: int
    rounds: Sequence[int]


class CodecReport(Report, frozen=True, kw_only=True):
    """Report with the speed of each way."""

    log: DecodedLog
    clock: str
    ways: Sequence[DecodedWay]


def measure(
    log: RecordedLog, *, release: str, rounds: int, progress: Callable[[str], None]
) -> CodecReport:
    """Decode *log* in every way, *rounds* times, and return the report."""
    machine = machine_facts(release)
    with JavaDecoder(release, log.path) as java:
        machine = replace(machine, java=java.java_version)
        ways = [*_python_ways(log.data), *_java_ways(java)]
        progress("warming Java up")
        for name in JAVA_WAYS:
            java.passes(name, WARM_UP_PASSES)
        records, rates = _rates(ways, rounds=rounds, progress=progress)
    return CodecReport(
        bench="codec",
        log=DecodedLog(
            origin=log.origin,
            recorded_at=log.recorded_at,
            sha256=log.sha256,
            bytes=len(log.data),
            records=records,
        ),
        machine=machine,
        clock="processor time of the thread that decodes",
        rounds=rounds,
        ways=[
            DecodedWay(
                id=way.id,
                description=way.description,
                records_per_s=round(median(rates[way.id])),
                rounds=[round(rate) for rate in rates[way.id]],
            )
            for way in ways
        ],
        goals=[_goal_result(goal, rates) for goal in GOALS],
    )


def _rates(
    ways: list[Way], *, rounds: int, progress: Callable[[str], None]
) -> tuple[int, dict[str, list[float]]]:
    """Return the records of a pass, and each way's records a second, by round."""
    rates: dict[str, list[float]] = {way.id: [] for way in ways}
    counts: dict[str, int] = {}
    for number in range(1, rounds + 1):
        for way in ways:
            progress(f"round {number} of {rounds}: {way.description}")
            counts[way.id], seconds = way.run()
            rates[way.id].append(counts[way.id] / seconds)
    if len(set(counts.values())) != 1:
        raise AssertionError(f"the ways disagree on the records: {counts}")
    return counts[ways[0].id], rates


def _goal_result(goal: Goal, rates: dict[str, list[float]]) -> Ratio:
    """Return the median over the rounds of the two ways' ratio."""
    pairs = zip(rates[goal.way], rates[goal.other], strict=True)
    ratios = [one / other for one, other in pairs]
    return ratio_result(goal.way, ratios, goal.other, goal.at_least)


def _python_ways(data: bytes) -> Iterator[Way]:
    yield Way(
        id="construct",
        description="construct's interpreter of the declaration, record by record",
        run=lambda: _timed(lambda: _by_construct(data), passes=1),
    )
    yield Way(
        id="struct",
        description="the struct codec derived from it, record by record",
        run=lambda: _timed(lambda: _by_struct(data), passes=2),
    )
    for way, description, run in (
        ("numpy", "the batch plan derived from it, numpy columns", _columns),
        ("numpy-crc", "the same, and every body's checksum", _checked_columns),
        ("arrow", "the same as Arrow, byte fields left in place", _arrow),
        ("arrow-copied", "the same as Arrow, byte fields copied out", _arrow_copied),
    ):
        yield Way(id=way, description=description, run=_turn(run, data))


def _java_ways(java: JavaDecoder) -> Iterator[Way]:
    for way, description, name in (
        ("java", "Java's MessageDecoder, bodies copied", "with-body"),
        ("java-crc", "the same, and every body's checksum", "with-crc"),
        ("java-bodiless", "Java's MessageDecoder, bodies passed over", "without-body"),
    ):
        yield Way(id=way, description=description, run=_java_turn(java, name))


def _turn(run: Callable[[bytes], int], data: bytes) -> Callable[[], tuple[int, float]]:
    return lambda: _timed(lambda: run(data), passes=PASSES)


def _java_turn(java: JavaDecoder, way: str) -> Callable[[], tuple[int, float]]:
    def turn() -> tuple[int, float]:
        records, times = java.passes(way, PASSES)
        return records, min(times)

    return turn


def _timed(run: Pass, *, passes: int) -> tuple[int, float]:
    times = []
    records = 0
    for _ in range(passes):
        began = time.thread_time()
        records = run()
        times.append(time.thread_time() - began)
    return records, min(times)


def _by_construct(data: bytes) -> int:
    records = position = 0
    while position < len(data):
        size = int.from_bytes(data[position : position + 4])
        parse(record_layout, data[position : position + size])
        position += size
        records += 1
    return records


def _by_struct(data: bytes) -> int:
    records = position = 0
    decode = record_codec.decode_from
    while position < len(data):
        _, position = decode(data, position)
        records += 1
    return records


def _columns(data: bytes) -> int:
    return sum(len(batch.starts) for batch in read_batches(data, check_crc=False))


def _checked_columns(data: bytes) -> int:
    return sum(len(batch.starts) for batch in read_batches(data))


def _arrow(data: bytes) -> int:
    batches = read_batches(data, check_crc=False)
    return sum(as_arrow(batch).num_rows for batch in batches)


def _arrow_copied(data: bytes) -> int:
    records = 0
    for batch in read_batches(data, check_crc=False):
        table = as_arrow(batch)
        for column in table.columns:
            if column.type == pa.binary_view():
                column.cast(pa.large_binary())
        records += table.num_rows
    return records
