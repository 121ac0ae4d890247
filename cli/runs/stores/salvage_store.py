"""
Salvage of a store: a new store of all records that can still be read.

The original is only read. The commit log and the config files are written. A start of
the reference on the new store makes consume queues, index and checkpoint.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.runs.stores.commit_log_files import (
    commit_log_files,
    mapped,
    too_long_files,
    unreadable_entries,
    without_preallocated,
)
from cli.runs.stores.salvage_config import write_config
from cli.runs.stores.salvage_target import (
    PARTIAL_LOG,
    SalvageError,
    check_target,
    partial_store,
)
from cli.runs.stores.stated_offsets import stated_offsets
from reference.core.recovery_forecast.message_loss import MISSING_FILES_MAX
from reference.core.recovery_forecast.store_view import inferred_options
from reference.core.salvage.log_plan import (
    NewBytes,
    bridge,
    encode_changed,
    is_bridge,
    plan_file,
)
from reference.core.salvage.queue_offsets import (
    OffsetRange,
    QueueName,
    QueueOffsets,
    with_half_offsets,
)
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from reference.core.store.message_store import MessageStore
from reference.core.store.types import StoreOptions
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, file_name
from spec.wire.message.topic_names import LMQ_PREFIX


@dataclass(kw_only=True)
class Salvage:
    """The result: what the new store has, and what is lost."""

    target: Path
    record_count: int = 0
    bridge_count: int = 0
    """Records in the place of damage, which no consumer receives."""
    damaged: list[DamagedRange] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)
    lost: dict[QueueName, list[OffsetRange]] = field(default_factory=dict)
    """Original queue offsets without a readable record, by queue."""
    moved: dict[QueueName, int] = field(default_factory=dict)
    """By queue, the number by which its last offsets are lower than before."""
    lowered: list[QueueName] = field(default_factory=list)
    """Queue of each committed or delivered offset that was behind its new end."""
    warnings: list[str] = field(default_factory=list)
    is_without_queues: bool = False
    """Whether a broker has to build the queues: some are LMQs or batch queues."""

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
    check_target(store, target)
    view = ReadOnlyStore(store)
    if view.is_locked():
        raise SalvageError(f"a broker is running on {store}; stop it first")
    options = inferred_options(view)
    size = options.commit_log_file_size
    files = _log_files(store, size)
    if not files:
        raise SalvageError(f"{store} has no file of a commit log")
    result = Salvage(target=target)
    with partial_store(store, target) as partial:
        offsets = _write_log(partial, size, files, progress, result)
        # Missing files may follow the last one: their messages are lost.
        log_end = files[-1][0] + size + MISSING_FILES_MAX * size
        _count_lost(store, range(files[0][0], log_end), offsets, result)
        if offsets.disordered_count:
            result.warnings.append(
                "queue offsets out of order, now each behind that of the message"
                f" before: {offsets.disordered_count:,}"
            )
        result.warnings += unreadable_entries(store / COMMIT_LOG)
        result.warnings += too_long_files(commit_log_files(store / COMMIT_LOG), size)
        changes = write_config(view, partial, offsets)
        result.warnings += changes.warnings
        result.lowered += changes.lowered
        result.is_without_queues |= changes.has_batch_topics
        (partial / PARTIAL_LOG).rename(partial / COMMIT_LOG)
        _make_queues(partial, options, offsets)
        if result.is_without_queues:
            shutil.rmtree(partial / CONSUME_QUEUE)
    return result


def _write_log(
    partial: Path,
    size: int,
    files: list[tuple[int, Path | None]],
    progress: Callable[[int], None],
    result: Salvage,
) -> QueueOffsets:
    """Write the new log in *partial*; return the queue offsets of its records.

    Counts and damage are added to *result*.
    """
    log = partial / PARTIAL_LOG
    log.mkdir()
    is_whole = files[0][0] == 0
    writer = LogWriter(log, size, result, is_whole=is_whole)
    for start_offset, path in files:
        writer.write_file(start_offset, path, is_last=start_offset == files[-1][0])
        progress(size)
    return writer.offsets


def _log_files(store: Path, size: int) -> list[tuple[int, Path | None]]:
    """Return begin offset and path of each file of the log; None for a missing one."""
    found = dict(without_preallocated(commit_log_files(store / COMMIT_LOG)))
    if not found:
        return []
    start_offsets = range(min(found), max(found) + 1, size)
    off_grid = sorted(set(found) - set(start_offsets))
    if off_grid:
        raise SalvageError(f"{found[off_grid[0]]} is not a multiple of {size} bytes")
    return [(start_offset, found.get(start_offset)) for start_offset in start_offsets]


class LogWriter:
    """Writes the files of the new log, and adds to the result what they lack."""

    def __init__(
        self, log: Path, file_size: int, result: Salvage, *, is_whole: bool
    ) -> None:
        self.offsets = QueueOffsets(is_whole=is_whole)
        self._result = result
        self._log = log
        self._size = file_size

    def write_file(
        self, start_offset: int, path: Path | None, *, is_last: bool
    ) -> None:
        """Write the file that begins at *start_offset*; None is a missing original."""
        name = file_name(start_offset)
        original = nullcontext(b"") if path is None else mapped(path, self._size)
        with original as data, (self._log / name).open("wb") as new:
            new.truncate(self._size)
            records = self._records(data, start_offset, is_last=is_last)
            for part in plan_file(records, start_offset, self._size, is_last=is_last):
                for piece in self._moved(part, data, start_offset):
                    self._result.bridge_count += piece.is_bridge
                    os.pwrite(new.fileno(), piece.data, piece.offset - start_offset)
            os.fsync(new.fileno())
            if path is None:
                self._result.missing_files.append(name)
            if len(data) < self._size and not is_last:
                missing = DamagedRange(
                    start_offset + len(data), start_offset + self._size
                )
                self._result.damaged.append(missing)

    def _records(
        self, data: bytes, start_offset: int, *, is_last: bool
    ) -> Iterator[FoundRecord]:
        """Yield the records of a file; add its damage to the result."""
        for found in readable_records(data, start_offset, is_last=is_last):
            if isinstance(found, DamagedRange):
                self._result.damaged.append(found)
            else:
                yield found

    def _moved(
        self, part: FoundRecord | NewBytes, data: bytes, start_offset: int
    ) -> Iterator[NewBytes]:
        """Yield the bytes of a part; offsets in a record may have moved."""
        if isinstance(part, NewBytes):
            yield part
            return
        end = part.offset + part.size
        record = with_half_offsets(part.record, self.offsets)
        if record is None:
            yield from bridge(part.offset, end, part.record.stored_at_ms)
            return
        self._result.is_without_queues |= LMQ_PREFIX in record.properties
        is_old_bridge = is_bridge(record)
        self._result.record_count += not is_old_bridge
        self._result.bridge_count += is_old_bridge
        record = replace(record, queue_offset=self.offsets.add(record))
        original = data[part.offset - start_offset : end - start_offset]
        is_same = record == part.record
        yield NewBytes(
            part.offset, original if is_same else encode_changed(record, original)
        )


def _count_lost(
    store: Path, log: range, offsets: QueueOffsets, result: Salvage
) -> None:
    """Add the lost offsets: the gaps, and those that only a consume queue has.

    Each message of an LMQ is counted in the queue of its topic.
    """
    stated = stated_offsets(store, log)
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
        if lost and not name.topic.startswith(LMQ_PREFIX):
            result.lost[name] = lost
        if gaps:
            result.moved[name] = sum(one.end - one.begin for one in gaps)


def _make_queues(target: Path, options: StoreOptions, offsets: QueueOffsets) -> None:
    """Start and stop the reference on the new store; check what its queues have."""
    now_ms = time.time_ns() // 1_000_000
    store = MessageStore(DiskFiles(target), options, now_ms)
    store.checkpoint.physic_ms = store.checkpoint.logics_ms  # each file is on disk
    counts = sum(queue.max_offset - queue.min_offset for queue in store.queues)
    store.stop()
    expected = sum(offsets.counts.values())
    if counts != expected:
        raise SalvageError(
            f"the new queues have {counts:,} messages, the new log {expected:,};"
            " the new store was removed"
        )
