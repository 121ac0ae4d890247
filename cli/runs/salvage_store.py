"""
Salvage of a store: a new store of all records that can still be read.

The original is only read. The commit log and the config files are written. A start of
the reference on the new store makes consume queues, index and checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.runs.commit_log_files import commit_log_files, mapped
from cli.runs.salvage_config import write_config
from cli.runs.stated_offsets import stated_offsets
from reference.core.recovery_forecast.file_sizes import inferred_options
from reference.core.salvage.changed_record import encode_changed
from reference.core.salvage.log_plan import NewBytes, bridge, plan_file
from reference.core.salvage.op_messages import with_half_offsets
from reference.core.salvage.queue_offsets import OffsetRange, QueueName, QueueOffsets
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from reference.core.store.message_store import MessageStore
from reference.core.store.types import StoreOptions
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.store.file_names import COMMIT_LOG, file_name


class SalvageError(Exception):
    """The new store cannot be written, or it is not complete."""


@dataclass(kw_only=True)
class Salvage:
    """The result: what the new store has, and what is lost."""

    target: Path
    record_count: int = 0
    damaged: list[DamagedRange] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)
    lost: dict[QueueName, list[OffsetRange]] = field(default_factory=dict)
    """Original queue offsets without a readable record, by queue."""
    moved: dict[QueueName, int] = field(default_factory=dict)
    """By queue, the number by which its last offsets are lower than before."""
    warnings: list[str] = field(default_factory=list)

    @property
    def damaged_size(self) -> int:
        """Bytes of the log without a readable record."""
        return sum(one.end - one.begin for one in self.damaged)

    @property
    def lost_count(self) -> int:
        """Messages of queues that are lost."""
        return sum(one.end - one.begin for lost in self.lost.values() for one in lost)


def salvage_store(
    store: Path, target: Path, progress: Callable[[int], None]
) -> Salvage:
    """Write the readable records of *store* to a new store at *target*.

    *progress* receives the bytes read. Raises SalvageError.
    """
    _check_target(store, target)
    view = ReadOnlyStore(store)
    options = inferred_options(view)
    files = _log_files(store, options.commit_log_file_size)
    if not files:
        raise SalvageError(f"{store} has no file of a commit log")
    result, offsets = Salvage(target=target), QueueOffsets()
    log = target / COMMIT_LOG
    log.mkdir(parents=True)
    for base, path in files:
        is_last = base == files[-1][0]
        _write_file(base, path, log, options, offsets, result, is_last=is_last)
        progress(options.commit_log_file_size)
    _count_lost(store, files[0][0], offsets, result)
    result.warnings += write_config(view, target, offsets)
    _make_queues(target, options, offsets)
    return result


def _check_target(store: Path, target: Path) -> None:
    if target.resolve().is_relative_to(store.resolve()):
        raise SalvageError(f"{target} lies in the store itself")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SalvageError(f"{target} is not an empty directory")


def _log_files(store: Path, size: int) -> list[tuple[int, Path | None]]:
    """Return begin offset and path of each file of the log; None for a missing one."""
    found = dict(commit_log_files(store / COMMIT_LOG))
    if not found:
        return []
    bases = range(min(found), max(found) + 1, size)
    off_grid = sorted(set(found) - set(bases))
    if off_grid:
        raise SalvageError(f"{found[off_grid[0]]} is not a multiple of {size} bytes")
    return [(base, found.get(base)) for base in bases]


def _write_file(
    base: int,
    path: Path | None,
    log: Path,
    options: StoreOptions,
    offsets: QueueOffsets,
    result: Salvage,
    *,
    is_last: bool,
) -> None:
    """Write one file of the new log, and add its damage to *result*."""
    size = options.commit_log_file_size
    with _bytes_of(path) as data, (log / file_name(base)).open("wb") as new:
        new.truncate(size)
        records: list[FoundRecord] = []
        for found in readable_records(data[:size], base, is_last=is_last):
            if isinstance(found, DamagedRange):
                result.damaged.append(found)
            else:
                records.append(found)
        if path is None:
            result.missing_files.append(file_name(base))
            result.damaged.append(DamagedRange(base, base + size))
        elif len(data) < size and not is_last:
            result.damaged.append(DamagedRange(base + len(data), base + size))
        kept, bridges = plan_file(records, base, size, is_last=is_last)
        for found in kept:
            begin = found.offset - base
            original = data[begin : begin + found.size]
            for piece in _moved(found, original, offsets, result):
                os.pwrite(new.fileno(), piece.data, piece.offset - base)
        for piece in bridges:
            os.pwrite(new.fileno(), piece.data, piece.offset - base)
        os.fsync(new.fileno())


def _bytes_of(path: Path | None) -> AbstractContextManager[bytes]:
    """Return the bytes of a file, mapped; none of a missing one."""
    return nullcontext(b"") if path is None else mapped(path)


def _moved(
    found: FoundRecord, original: bytes, offsets: QueueOffsets, result: Salvage
) -> Iterator[NewBytes]:
    """Yield the new bytes of a record, whose offsets may have moved."""
    record = with_half_offsets(found.record, offsets)
    if record is None:
        yield from bridge(
            found.offset, found.offset + found.size, found.record.stored_at_ms
        )
        return
    result.record_count += 1
    record = replace(record, queue_offset=offsets.add(record))
    is_same = record == found.record
    yield NewBytes(
        found.offset, original if is_same else encode_changed(record, original)
    )


def _count_lost(
    store: Path, log_begin: int, offsets: QueueOffsets, result: Salvage
) -> None:
    """Add the lost offsets: the gaps, and those that only a consume queue has."""
    stated = stated_offsets(store, log_begin)
    for name in dict.fromkeys([*offsets.ends, *stated]):
        gaps = offsets.lost.get(name, [])
        begin = offsets.begins.get(name, 0)
        end = offsets.ends.get(name, 0)
        known = stated.get(name, OffsetRange(begin, end))
        lost = [
            OffsetRange(known.begin, min(begin, known.end) if end else known.end),
            *gaps,
            OffsetRange(max(end, known.begin), known.end),
        ]
        lost = [one for one in dict.fromkeys(lost) if one.begin < one.end]
        if lost:
            result.lost[name] = lost
        if gaps:
            result.moved[name] = sum(one.end - one.begin for one in gaps)


def _make_queues(target: Path, options: StoreOptions, offsets: QueueOffsets) -> None:
    """Start and stop the reference on the new store; check what its queues have."""
    store = MessageStore(DiskFiles(target), options)
    store.start(time.time_ns() // 1_000_000)
    store.checkpoint.physic_ms = store.checkpoint.logics_ms  # each file is on disk
    counts = sum(queue.max_offset - queue.min_offset for queue in store.queues)
    store.stop()
    expected = sum(offsets.counts.values())
    if counts != expected:
        raise SalvageError(
            f"the queues of {target} have {counts:,} of {expected:,} messages"
        )
