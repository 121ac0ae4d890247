"""Recovery of a copy of a store: ``rmqc recover`` without ``--dry-run``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from reference.core.recovery_forecast.outcome import Outcome
from reference.core.store.message_store import MessageStore
from reference.core.store.types import StoreOptions
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.file_calls import raise_open_files_limit
from reference.shell.storage.store_copy import copied_store

REFERENCE_RELEASE = "4.6.0"
"""The release whose recovery the reference performs itself."""


class CopyRecovered(NamedTuple):
    """The copy after its recovery."""

    path: str
    report: str
    """A sentence without its full stop."""


def recover_copy(
    store: Path, target: Path, outcome: Outcome, options: StoreOptions
) -> CopyRecovered:
    """Copy *store*, recover the copy, and return a report of the steps.

    The reference starts and stops on the copy if it implements the release. For any
    other release only the commit log is truncated, because that release dispatches
    units in its own way. Raises CopyError and FilesError.
    """
    with copied_store(store, target):
        if outcome.release == REFERENCE_RELEASE:
            report = _started(target, options, outcome.units_at_garbage)
        else:
            report = _cut(target, outcome)
    return CopyRecovered(str(target), report)


def _started(target: Path, options: StoreOptions, units_at_garbage: int) -> str:
    """Start and stop the reference on the copy; return a report of it."""
    now_ms = time.time_ns() // 1_000_000
    raise_open_files_limit()
    store = MessageStore(DiskFiles(target), options, now_ms)
    end = store.log.files.end
    count = sum(queue.max_offset - queue.min_offset for queue in store.queues)
    store.stop()
    text = (
        f"The copy at {target} was recovered and stopped in order: its commit log ends"
        f" at {end:,}, its queues have {count:,} units"
    )
    if units_at_garbage:
        text += f", {units_at_garbage:,} of them without a readable message"
    return text


def _cut(target: Path, outcome: Outcome) -> str:
    """Cut off the copy's commit log what the start would cut off."""
    for name in outcome.log.deleted_files:
        (target / name).unlink(missing_ok=True)
    end = outcome.log.end
    for path in (target / "commitlog").iterdir():
        base, size = int(path.name), path.stat().st_size
        if base <= end < base + size:
            with path.open("r+b") as file:
                file.truncate(end - base)
                file.truncate(size)
    return (
        f"The commit log of the copy at {target} was cut at {end:,}; queues and index"
        f" are left to {outcome.release}, which puts them right when it starts"
    )
