"""
Salvage of a store: a new store of all records that can still be read.

The original is only read. The commit log and the config files are written. A start of
the reference on the new store makes consume queues, index and checkpoint.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from msgspec import structs

from cli.pages.audit.start_forecast import StartForecast
from cli.runs.stores.commit_log_files import (
    commit_log_files,
    size_before_cut,
    too_long_files,
    unreadable_entries,
    without_preallocated,
)
from cli.runs.stores.salvage_config import write_config
from cli.runs.stores.salvage_log import NewFile, OriginalFile, write_file, wrong_fields
from cli.runs.stores.salvage_target import (
    PARTIAL_LOG,
    SalvageError,
    check_target,
    partial_store,
)
from cli.runs.stores.start_forecasts import likely_release, start_forecast
from cli.runs.stores.stated_delays import stated_delays
from cli.runs.stores.stated_offsets import (
    RecordAt,
    StatedRange,
    record_in,
    right_offsets,
    stated_offsets,
)
from reference.core.recovery_forecast.message_loss import MISSING_FILES_MAX
from reference.core.recovery_forecast.store_view import (
    inferred_options,
    seen_queue_file_size,
)
from reference.core.salvage.queue_offsets import OffsetRange, QueueName, QueueOffsets
from reference.core.salvage.readable_records import EVERY_MAGIC, DamagedRange
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery.rules import rules_of
from reference.core.store.types import StoreOptions
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.file_calls import raise_open_files_limit
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.store.checkpoint import decode_checkpoint, encode_checkpoint
from spec.store.file_names import (
    ABORT,
    CHECKPOINT,
    COMMIT_LOG,
    CONSUME_QUEUE,
    NAME_DIGITS,
    reason_without_log,
)
from spec.wire.message.topic_names import LMQ_PREFIX, TIMER_TOPIC


@dataclass(kw_only=True)
class Salvage:
    """The result: what the new store has, and what is lost."""

    target: Path
    record_count: int = 0
    bridge_count: int = 0
    """Records in the place of damage, which no consumer receives."""
    timed_count: int = 0
    """Messages of the timer of 5.x, whose files are not copied."""
    damaged: list[DamagedRange] = field(default_factory=list)
    corrected_count: int = 0
    """Records with the queue offset of their unit in place of a wrong one."""
    missing_files: list[str] = field(default_factory=list)
    lost: dict[QueueName, list[OffsetRange]] = field(default_factory=dict)
    """Original queue offsets without a readable record, by queue."""
    moved: dict[QueueName, int] = field(default_factory=dict)
    """By queue, the number by which its last offsets are lower than before."""
    lowered: list[QueueName] = field(default_factory=list)
    """Queue of each committed or delivered offset that was behind its new end."""
    unreadable: list[str] = field(default_factory=list)
    """A line for each entry of the log that is not a file."""
    warnings: list[str] = field(default_factory=list)
    added_topics: list[str] = field(default_factory=list)
    """Topics with messages that the original topics.json did not have."""
    is_without_queues: bool = False
    """Whether a broker has to build the queues: some are LMQs or batch queues."""
    default_queue_file_size: int | None = None
    """Bytes of each new queue file; None if the original ones had the same size."""
    start: StartForecast | None = None
    """Forecast of a broker's start on the new store; None for a large one."""

    @property
    def damaged_size(self) -> int:
        """Bytes of the log without a readable record."""
        return sum(one.end - one.begin for one in self.damaged)

    @property
    def lost_count(self) -> int:
        """Messages of queues that are lost."""
        return sum(one.end - one.begin for lost in self.lost.values() for one in lost)


def salvage_store(
    store: Path,
    target: Path,
    progress: Callable[[int], None],
    *,
    release: str | None = None,
    master: str | None = None,
) -> Salvage:
    """Write the readable records of *store* to a new store at *target*.

    *progress* receives the bytes read. Records that *release* cannot read are left out.
    *master* is a Spark whose workers share both directories. Raises SalvageError.
    """
    check_target(store, target)
    view = ReadOnlyStore(store)
    _check_readable(store, view)
    options = inferred_options(view)
    size = options.commit_log_file_size
    magics = rules_of(release).magics if release else EVERY_MAGIC
    files = _log_files(store, size, magics)
    if not files:
        raise SalvageError(f"{store} has no file of a commit log")
    files = _without_cut_off(store, files)
    record_at = _record_reader(files)
    files, stated = _with_right_offsets(store, files, record_at)
    options = structs.replace(options, delay_levels=stated_delays(view, record_at))
    result = Salvage(target=target)
    with partial_store(store, target) as partial:
        log = partial / PARTIAL_LOG
        offsets = _write_log(log, files, result, progress, master)
        if begins := offsets.right_begins:
            shutil.rmtree(log)
            result = Salvage(target=target)
            offsets = _write_log(log, files, result, lambda _: None, master, begins)
        _count_lost(stated, offsets, result)
        if files[-1].cut_at:
            result.warnings.append(
                f"a failover has cut the log at {files[-1].end:,}: the older records"
                " behind are left out"
            )
        result.warnings += wrong_fields(offsets, result.corrected_count)
        result.unreadable += unreadable_entries(store / COMMIT_LOG)
        result.warnings += too_long_files(commit_log_files(store / COMMIT_LOG), size)
        changes = write_config(view, partial, offsets)
        result.warnings += changes.warnings
        result.lowered += changes.lowered
        result.added_topics += changes.added_topics
        result.is_without_queues |= changes.has_batch_topics
        log.rename(partial / COMMIT_LOG)
        _make_queues(partial, options, offsets)
        if result.is_without_queues:
            _leave_queues_to_a_broker(partial)
        elif offsets.counts and not seen_queue_file_size(view):
            result.default_queue_file_size = options.consume_queue_file_size
        # Here an interruption removes the new store, as the command promises.
        result.start = start_forecast(str(partial), release or likely_release(store))
    if result.start is not None and not result.start.is_harmless:
        result.warnings.append(result.start.result)
    return result


def _check_readable(store: Path, view: ReadOnlyStore) -> None:
    """Raise SalvageError unless *store* has a commit log and no running broker."""
    reason = reason_without_log(os.listdir(store))
    if reason:
        raise SalvageError(f"{store} {reason}")
    if view.is_locked():
        raise SalvageError(f"a broker is running on {store}; stop it first")


def _write_log(
    log: Path,
    files: list[OriginalFile],
    result: Salvage,
    progress: Callable[[int], None],
    master: str | None,
    begins: Mapping[QueueName, int] | None = None,
) -> QueueOffsets:
    """Write the new log in the directory *log*; return its records' queue offsets.

    *begins* are first queue offsets that the first records do not have. Counts and
    damage are added to *result*. Without a *master* of Spark, this process writes all
    files.
    """
    log.mkdir()
    offsets = QueueOffsets(is_whole=files[0].start_offset == 0, begins=begins)
    with _new_files(log, files, offsets, progress, master) as new_files:
        for file, new in zip(files, new_files, strict=True):
            result.record_count += new.record_count
            result.bridge_count += new.bridge_count
            result.damaged += new.damaged
            result.is_without_queues |= new.has_lmq_messages
            result.corrected_count += new.corrected_count
            result.missing_files += [file.name] if file.path is None else []
    result.timed_count = offsets.counts.get(QueueName(TIMER_TOPIC, 0), 0)
    return offsets


@contextmanager
def _new_files(
    log: Path,
    files: list[OriginalFile],
    offsets: QueueOffsets,
    progress: Callable[[int], None],
    master: str | None,
) -> Iterator[Iterator[NewFile]]:
    """Yield the new files of *log* in order, each when it is written."""
    if master is None:
        yield (write_file(log, file, offsets, progress) for file in files)
        return
    from cli.runs.stores.salvage_tasks import PACKAGES, write_log_by_tasks
    from spark_checks.session.failures import FAILURES, SparkError, failed
    from spark_checks.session.session import spark_context

    try:
        with spark_context(master, packages=PACKAGES) as context:
            yield write_log_by_tasks(context, log, files, offsets, progress)
    except FAILURES as error:
        raise SalvageError(str(failed(error))) from error
    except SparkError as error:
        raise SalvageError(str(error)) from error


def _log_files(store: Path, size: int, magics: Collection[int]) -> list[OriginalFile]:
    """Return the files of the log, and the missing ones, in order."""
    found = dict(without_preallocated(commit_log_files(store / COMMIT_LOG)))
    if not found:
        return []
    start_offsets = range(min(found), max(found) + 1, size)
    off_grid = sorted(one for one in found if one not in start_offsets)
    if off_grid:
        for file in found.values():
            if len(file.name) != NAME_DIGITS:
                raise SalvageError(f"{file} is not a commit-log file: move it away")
        raise SalvageError(
            f"{found[off_grid[0]]} is not a multiple of {size} bytes: name it after its"
            " first record's offset, or move it away"
        )
    for before, after in pairwise(sorted(found)):
        if after - before > MISSING_FILES_MAX * size:
            raise SalvageError(
                f"{found[after]} lies too far behind {found[before].name}: it may be"
                " of another store, and has to be moved"
            )
    return [
        OriginalFile(
            start_offset=start_offset,
            path=path.absolute() if (path := found.get(start_offset)) else None,
            size=size,
            is_last=start_offset == start_offsets[-1],
            magics=magics,
        )
        for start_offset in start_offsets
    ]


def _without_cut_off(store: Path, files: list[OriginalFile]) -> list[OriginalFile]:
    """Return *files* without what a failover has cut off the last one."""
    *others, last = files
    if last.path is None:
        return files
    left = size_before_cut(store, (last.start_offset, last.path), last.size)
    return files if left == last.size else [*others, replace(last, cut_at=left)]


def _record_reader(files: list[OriginalFile]) -> RecordAt:
    """Return the function that reads the record at an offset of the log in *files*."""
    return partial(
        record_in, {one.start_offset: one.path for one in files}, files[0].size
    )


def _with_right_offsets(
    store: Path, files: list[OriginalFile], record_at: RecordAt
) -> tuple[list[OriginalFile], dict[QueueName, StatedRange]]:
    """Return *files* with the right queue offsets, and those that have units."""
    size = files[0].size
    # Missing files may follow the last one, but for a cut: their messages are lost.
    log_end = files[-1].end + (0 if files[-1].cut_at else MISSING_FILES_MAX * size)
    stated = stated_offsets(store, range(files[0].start_offset, log_end), record_at)
    right = right_offsets(stated, record_at)
    return [replace(file, right_offsets=right) for file in files], stated


def _count_lost(
    stated: Mapping[QueueName, StatedRange], offsets: QueueOffsets, result: Salvage
) -> None:
    """Add the lost offsets: the gaps, and those that only a consume queue has.

    Each message of an LMQ is counted in the queue of its topic.
    """
    for name in dict.fromkeys([*offsets.ends, *stated]):
        gaps = offsets.lost.get(name, [])
        begin = offsets.begins.get(name, 0)
        end = offsets.ends.get(name, 0)
        known = stated.get(name, StatedRange(begin, end, ()))
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


def _leave_queues_to_a_broker(target: Path) -> None:
    """Remove the queues, and let the first start recover as after a crash.

    It then builds the queues from the whole log, up to 5.3. After an orderly stop, a
    broker of 4.4 or 5.0 to 5.3.1 builds none (5.0.0 CommitLog#recoverNormally).
    """
    shutil.rmtree(target / CONSUME_QUEUE)
    path = target / CHECKPOINT
    times = decode_checkpoint(path.read_bytes())
    without = replace(times, physic_ms=0, logics_ms=0)
    path.write_bytes(encode_checkpoint(without))
    (target / ABORT).touch()


def _make_queues(target: Path, options: StoreOptions, offsets: QueueOffsets) -> None:
    """Start and stop the reference on the new store; check what its queues have.

    It reads the records of every release. The queues have no extension.
    """
    raise_open_files_limit()
    now_ms = time.time_ns() // 1_000_000
    rules = structs.replace(options.rules, magics=frozenset(EVERY_MAGIC))
    options = structs.replace(options, rules=rules, extension_file_size=0)
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
