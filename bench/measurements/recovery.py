"""
Time until a broker serves again after it was killed with a large store.

The store is written here, by batches, and killed; each broker then gets copies of it,
see ``recovery_time.py``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.longrun.memory import REAL_SIZES
from bench.measurements.pull import fill
from bench.measurements.recovery_time import compared, copy_store
from bench.processes.servers import check_release, reference_server
from bench.report.result import (
    OURS,
    THEIRS,
    Goal,
    Report,
    goal_result,
    machine_facts,
    row,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.started.embedded import EmbeddedTarget

RECORD_SIZE = 1024 + 170
"""About what a message of 1 KiB takes in the log."""
COPIES = 3
GOALS = (
    Goal(figure="serves_s", at_least=1, less_is_better=True),
    Goal(figure="cpu_s", at_least=None, less_is_better=True),
)


class NoRoomError(Exception):
    """The disk has no room for the store and its copies."""


class RecoveryReport(Report, frozen=True, kw_only=True):
    """Report with the sizes of the measurement."""

    store_bytes: str


def measure(
    release: str, gigabytes: float, *, progress: Callable[[str], None]
) -> Report:
    """Start the reference and Apache's *release* on copies of a killed store."""
    check_release(release)
    machine = machine_facts(release)
    targets = "embedded:", f"jvm:{release}"
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        directory, topic = Path(folder), unique_name("bench")
        needed = COPIES * gigabytes * 1e9
        if shutil.disk_usage(directory).free < needed:
            raise NoRoomError(f"{directory} has no room for {needed:.0f} bytes")
        saved = directory / "saved"
        progress("writing a store, and killing its broker")
        _write_and_kill(saved, topic, count=int(gigabytes * 1e9 / RECORD_SIZE))
        found = compared(
            saved,
            targets,
            settings=REAL_SIZES,
            topic=topic,
            directory=directory,
            progress=progress,
        )
    ours, theirs = (found.rounds[text] for text in targets)
    turns = {OURS: ours, THEIRS: theirs}
    what = f"serves again, {gigabytes:g} GB"
    return RecoveryReport(
        bench="recovery",
        store_bytes=str(found.store_bytes),
        machine=machine,
        rounds=len(turns[OURS]),
        rows=[row(what, turns, unit="s", of="serves_s")],
        goals=[
            goal_result(what, turns, GOALS[0]),
            goal_result(f"{what} cpu_s", turns, GOALS[1]),
        ],
    )


def _write_and_kill(saved: Path, topic: str, *, count: int) -> None:
    with EmbeddedTarget("embedded:", conf=REAL_SIZES) as target:
        fill(reference_server(target), topic, count=count, body_size=1024)
        target.kill()
        assert target.store_path is not None
        copy_store(target.store_path, saved)
