"""
Speed of a full audit, beside the scan of the same log by Apache's own broker.

In each round a fresh Java calls ``CommitLog.checkMessageAndReturnSize`` with checksums
on every file of the log, as a recovering broker does. A fresh Spark then makes the full
audit: all invariants, all files. Both have read the files once before, so that the disk
costs no time. The start of Java or of Spark is reported apart. Spark's Python workers
import meanwhile. The audit forks them, which belongs to its time. Memory is that of one
more audit, because its readings take time of the processors that an audit keeps busy.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Self

from msgspec import UNSET, Struct, UnsetType, convert
from msgspec.structs import replace

from bench.processes.java_classes import FOLDER, JavaCompileError, whole_class_path
from bench.processes.measured_process import MeasuredProcess, MeasuredProcessError, Turn
from bench.report.result import (
    OURS,
    THEIRS,
    Figures,
    Limit,
    Ratio,
    Report,
    Row,
    limit,
    machine_facts,
)
from java_runtime.find_java import find_java
from rocketmq_conformance.paths import module_command
from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate
from spark_checks.generate.uniform import UniformPlan
from spark_checks.session.session import spark_context
from spark_checks.session.settings import local_processors

SOURCE = FOLDER / "ScanLog.java"
MEBIBYTE = 1 << 20
BODY_SIZE = 1024
ROOM = 1.5
"""Required free disk, as a multiple of the store's size."""
MEMORY_MAX_MIB = 1024
"""Limit for driver and workers together, for any size of the store."""


class AuditBenchError(Exception):
    """Java or Spark failed, or they disagree."""


class NoDiskError(Exception):
    """The disk has no room for the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Options of a measurement."""

    master: str
    release: str
    rounds: int
    directory: Path | None = None
    """Directory of the temporary stores; None for the system's temporary files."""
    is_uniform: bool = False
    """Whether stores have equal messages without keys, which numpy writes."""

    def plan(self, size: int) -> Plan:
        """Return the plan of a store whose log has about *size* bytes."""
        shape: dict[str, Any] = {
            "seed": 9,
            "topics": 8,
            "queues": 4,
            "body_size": BODY_SIZE,
        }
        if self.is_uniform:
            record_size = UniformPlan(messages=1, **shape).record_size
            return UniformPlan(messages=size // record_size, **shape)
        return Plan(**shape).with_size(size)


class Spread(Struct, frozen=True, kw_only=True):
    """A figure of all rounds."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return the spread of *values*."""
        return cls(
            median=round(median(values), 3),
            lowest=round(min(values), 3),
            highest=round(max(values), 3),
        )


class Cost(Struct, frozen=True, kw_only=True):
    """Cost of a scan, or of an audit, in a fresh process."""

    records: int
    seconds: float
    processor_s: float
    start_s: float
    peak: int
    peaks: Mapping[str, int]
    bytes: int = 0
    """Size of the log, which a scan returns."""
    findings: int = 0
    steps: Sequence[tuple[float, str]] = ()
    tasks: Mapping[str, int] = {}
    """Tasks of the survey: with kernels, and without."""


class Way(Struct, frozen=True, kw_only=True):
    """Figures of all scans, or of all audits."""

    seconds: Spread
    mb_per_s: float
    processor_s: Spread
    start_s: float
    mb_per_s_per_core: float | UnsetType = UNSET
    steps: Sequence[tuple[float, str]] | UnsetType = UNSET


class Memory(Struct, frozen=True, kw_only=True):
    """Most memory of an audit, and the processes that had it."""

    peak_mib: int
    parts_mib: Mapping[str, int]


class Point(Struct, frozen=True, kw_only=True):
    """Figures of one size of a store."""

    bytes: int
    records: int
    findings: int
    ratio: Spread
    audit: Way
    java: Way
    memory: Memory


class AuditReport(Report, frozen=True, kw_only=True):
    """Report with the figures of each size."""

    master: str
    points: Sequence[Point]
    linearity: float | None


def measure(
    sizes: Sequence[int], run: Run, *, progress: Callable[[str], None]
) -> AuditReport:
    """Measure on generated stores of these *sizes*, and return the report."""
    machine = machine_facts(run.release)
    points = [_point(size, run, progress) for size in sizes]
    return AuditReport(
        bench="audit",
        master=run.master,
        rounds=run.rounds,
        machine=machine,
        points=points,
        rows=[_row(point) for point in points],
        goals=goals_of(points),
        linearity=linearity(points),
    )


def _row(point: Point) -> Row:
    """Return a point as the page and its picture show it."""
    ways = {OURS: point.audit, THEIRS: point.java}
    return Row(
        id=f"audit and scan of {point.bytes / 1e9:.2g} GB",
        unit="MB/s",
        of="mb_per_s",
        sides={who: _rates(way, point.bytes) for who, way in ways.items()},
    )


def _rates(way: Way, size: int) -> Figures:
    bounds = (way.seconds.highest, way.seconds.median, way.seconds.lowest)
    return Figures(
        medians={
            "mb_per_s": way.mb_per_s,
            "cpu_s": way.processor_s.median,
            "start_s": way.start_s,
        },
        rounds=[round(size / seconds / 1e6) for seconds in bounds],
    )


def linearity(points: Sequence[Point]) -> float | None:
    """Return the time per byte at the last point, as a multiple of the first's."""
    if len(points) < 2:
        return None
    first, last = (
        point.audit.seconds.median / point.bytes for point in (points[0], points[-1])
    )
    return round(last / first, 2)


def goals_of(points: Sequence[Point]) -> list[Ratio | Limit]:
    """Return the results for the largest store's ratio and for the peak memory."""
    peak = max(point.memory.peak_mib for point in points)
    ratio = points[-1].ratio
    return [
        Ratio(
            way="audit and start of its workers",
            other="java scan",
            ratio=ratio.median,
            spread=(ratio.lowest, ratio.highest),
            at_least=1.0,
            met=ratio.median >= 1.0,
        ),
        limit("memory of driver and workers", peak, at_most=MEMORY_MAX_MIB, unit="MiB"),
    ]


def _point(size: int, run: Run, progress: Callable[[str], None]) -> Point:
    """Return the figures of a store of *size* bytes."""
    with generated(size, run, progress) as store:
        files = sorted((store / "commitlog").iterdir())
        for file in files:
            _read(file)
        scans, audits = [], []
        for number in range(1, run.rounds + 1):
            progress(f"{size // MEBIBYTE} MiB, round {number} of {run.rounds}: Java")
            scans.append(scan_once(store, run))
            progress(f"{size // MEBIBYTE} MiB, round {number} of {run.rounds}: audit")
            audits.append(audit_once(store, run))
        progress(f"{size // MEBIBYTE} MiB, memory: audit")
        watched = audit_once(store, run, is_watched=True)
    processors = local_processors(run.master) or os.cpu_count() or 1
    return _as_point(scans, audits, watched, processors=processors)


@contextmanager
def generated(size: int, run: Run, progress: Callable[[str], None]) -> Iterator[Path]:
    """Lend a store whose log has about *size* bytes, and remove it at the end."""
    plan = run.plan(size)
    size = plan.files * plan.log_size
    directory = run.directory or Path(tempfile.gettempdir())
    free = shutil.disk_usage(directory).free
    if free < size * ROOM:
        raise NoDiskError(f"{directory} has {free} bytes left, {size} are written")
    with tempfile.TemporaryDirectory(dir=directory, prefix="rmqc-bench-") as name:
        progress(f"generating {size // MEBIBYTE} MiB")
        store = Path(name) / "store"
        with spark_context(run.master) as context:
            generate(store, plan, context)
        yield store


def scan_once(store: Path, run: Run) -> Cost:
    """Return the cost of a scan of the log of *store* by a fresh Java."""
    try:
        path = whole_class_path(SOURCE, release=run.release)
    except JavaCompileError as error:
        raise AuditBenchError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="rmqc-bench-") as scratch:
        log = str(store / "commitlog")
        command = [str(find_java()), "-cp", path, SOURCE.stem, log, scratch]
        turn, start_s = _one_turn(command)
    records, size, nanoseconds = map(int, turn.response.split())
    known = {"records": records, "bytes": size, "seconds": nanoseconds / 1e9}
    return _cost(known, turn, start_s)


def audit_once(store: Path, run: Run, *options: str, is_watched: bool = False) -> Cost:
    """Return the cost of an audit of *store* by a fresh Spark, with its *options*.

    Memory counts only if it *is_watched*, which takes longer.
    """
    command = module_command("bench.processes.audit_child", store, run.master, *options)
    turn, start_s = _one_turn(command, is_watched=is_watched)
    return _cost(json.loads(turn.response), turn, start_s)


def _one_turn(
    command: Sequence[str], *, is_watched: bool = False
) -> tuple[Turn, float]:
    root = Path(__file__).resolve().parents[2]
    environment = {"PYTHONPATH": str(root), "PYSPARK_PYTHON": sys.executable}
    try:
        with MeasuredProcess(command, environment) as process:
            return process.order("go", is_watched=is_watched), process.start_s
    except MeasuredProcessError as error:
        raise AuditBenchError(str(error)) from error


def _cost(known: Mapping[str, object], turn: Turn, start_s: float) -> Cost:
    """Return the figures that the process printed, and those measured around it."""
    measured = {
        "processor_s": turn.processor_s,
        "start_s": start_s,
        "peak": turn.peak,
        "peaks": turn.peaks,
    }
    return convert({**known, **measured}, Cost)


def _as_point(
    scans: Sequence[Cost], audits: Sequence[Cost], watched: Cost, *, processors: int
) -> Point:
    counts = {run.records for run in [*scans, *audits, watched]}
    if len(counts) != 1:
        raise AuditBenchError(f"audit and Java disagree on the records: {counts}")
    size = scans[0].bytes
    pairs = [*zip(scans, audits, strict=True)]
    audited, scanned = (_times(runs, size) for runs in (audits, scans))
    return Point(
        bytes=size,
        records=counts.pop(),
        findings=max(audit.findings for audit in audits),
        ratio=Spread.of([scan.seconds / audit.seconds for scan, audit in pairs]),
        audit=replace(
            audited,
            mb_per_s_per_core=round(audited.mb_per_s / processors, 1),
            steps=audits[-1].steps,
        ),
        java=scanned,
        memory=memory_of(watched),
    )


def memory_of(watched: Cost) -> Memory:
    """Return the most memory that an audit had, and of what processes."""
    return Memory(
        peak_mib=round(watched.peak / MEBIBYTE),
        parts_mib={n: round(p / MEBIBYTE) for n, p in watched.peaks.items()},
    )


def _times(runs: Sequence[Cost], size: int) -> Way:
    seconds = Spread.of([run.seconds for run in runs])
    return Way(
        seconds=seconds,
        mb_per_s=round(size / seconds.median / 1e6, 1),
        processor_s=Spread.of([run.processor_s for run in runs]),
        start_s=round(median(run.start_s for run in runs), 2),
    )


def _read(file: Path) -> None:
    with file.open("rb") as opened:
        while opened.read(1 << 24):
            pass
