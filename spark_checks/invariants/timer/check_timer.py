"""Check the timer's files of a store, and the messages that its units point at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from spark_checks.config_files import TOPICS, config_file
from spark_checks.file_systems import reading
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding, places_in
from spark_checks.invariants.queue_records import QueueFiles, record_at
from spark_checks.invariants.timer.timer_units import (
    TimerLog,
    check_chains,
    read_timer_log,
)
from spark_checks.invariants.timer.timer_wheel_slots import check_wheel
from spark_checks.situation import topics_with_queues
from spark_checks.store_files import Store, mapped_file_size, read_whole
from spec.integers import java_string_hash
from spec.layout import LayoutError
from spec.store import consume_queue
from spec.store.timer.timer_log import TIMER_LOG, UNIT_SIZE
from spec.store.timer.timer_wheel import (
    CHECKPOINT_SIZE,
    TIMER_CHECKPOINT,
    TIMER_WHEEL,
    WHEEL_SIZE,
    TimerCheckpoint,
    decode_timer_checkpoint,
    timer_checkpoint_layout,
)
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC

FILES_MAX = 4
"""Files of the timer log that are read, from the last one back; each has 100 MB."""
_CHECKPOINT = f"config/{TIMER_CHECKPOINT}"
_CHECKPOINT_PLACES = places_in(timer_checkpoint_layout)


def check_timer(store: Store, log_size: int | None = None) -> Iterator[Finding]:
    """Yield the findings in the timer's files of *store*.

    *log_size* is that of the timer log's files in the configuration; None for the most
    frequent one.
    """
    yield from _wrong_sizes(store, log_size)
    files = [file for file in store.under(TIMER_LOG) if file.is_named_by_offset]
    files = files[-FILES_MAX:]
    log, damaged = read_timer_log(store, files)
    for file, offset, found in damaged[:LISTED_MAX]:
        place = file.path, (offset, UNIT_SIZE)
        yield file_finding("INV-TIMER-001", *place, found=found)
    if log is not None and not damaged:
        yield from check_chains(log)
        progress = _progress(store)
        flushed = log.end if progress is None else progress.flushed_position
        yield from check_wheel(store, log, flushed)
    sizes, begin = _topic_queue(store)
    if log is not None and sizes:
        least = max(min(sizes) if begin else 0, store.min_offset)
        yield from islice(_check_messages(store, log, sizes, least), LISTED_MAX)
    queue_end = begin + len(sizes) if sizes else None
    yield from _check_progress(store, log, queue_end)


def _wrong_sizes(store: Store, log_size: int | None) -> Iterator[Finding]:
    """Yield the wheel and the files of the timer log with which no broker starts.

    5.3.3 TimerWheel#TimerWheel and MappedFileQueue#doLoad, which deletes an empty last
    file.
    """
    wheel = store.file(TIMER_WHEEL)
    is_directory = TIMER_WHEEL in store.directories
    if is_directory or (wheel and wheel.size not in {0, WHEEL_SIZE}):
        size = wheel.size if wheel else 0
        found = "a directory in its place" if is_directory else f"{size} bytes"
        texts = {"expected": f"{WHEEL_SIZE} bytes", "found": found}
        yield file_finding("INV-TIMER-006", TIMER_WHEEL, (0, size), **texts)
    files = store.under(TIMER_LOG)
    log_size = log_size or mapped_file_size(files)
    for file in files:
        if log_size and file.size != log_size and (file.size or file is not files[-1]):
            texts = {"expected": f"{log_size} bytes", "found": f"{file.size} bytes"}
            yield file_finding("INV-TIMER-006", file.path, (0, file.size), **texts)


def _check_progress(
    store: Store, log: TimerLog | None, queue_end: int | None
) -> Iterator[Finding]:
    """Yield the fields of the timer's checkpoint that are out of range."""
    found = _progress(store)
    if found is None:
        return
    limits: dict[str, int | None] = {
        **dict.fromkeys(_CHECKPOINT_PLACES),
        "flushed_position": _log_end(store, log),
        "queue_offset": queue_end,
    }
    for name, limit in limits.items():
        value = getattr(found, name)
        if value >= 0 and (limit is None or value <= limit):
            continue
        expected = f"{name} of 0 to {'any number' if limit is None else limit}"
        place = _CHECKPOINT, _CHECKPOINT_PLACES[name]
        yield file_finding("INV-TIMER-005", *place, expected=expected, found=value)


def _log_end(store: Store, log: TimerLog | None) -> int | None:
    """Return the end of the timer log: 0 without a file, None if it is unknown."""
    if log is not None:
        return log.end
    return None if store.under(TIMER_LOG) else 0


def _progress(store: Store) -> TimerCheckpoint | None:
    """Return the timer's checkpoint, or None without one."""
    file = store.file(_CHECKPOINT)
    if file is None or file.size < CHECKPOINT_SIZE:
        return None
    data = read_whole(store.url, file, size_max=CHECKPOINT_SIZE)
    return decode_timer_checkpoint(data)


def _topic_queue(store: Store) -> tuple[Mapping[int, int], int]:
    """Return the size of each message of the timer's topic, by its commit-log offset.

    The first queue offset that still exists is returned as well.
    """
    queues = QueueFiles(store)
    files = queues.of_queue[TIMER_TOPIC, 0]
    sizes: dict[int, int] = {}
    for file in files:
        units = queues.units_in(file)
        used = units[units["size"] > 0]
        sizes.update(used[["commit_log_offset", "size"]].tolist())
    return sizes, files[0].base // consume_queue.UNIT_SIZE if files else 0


def _check_messages(
    store: Store, log: TimerLog, sizes: Mapping[int, int], least: int
) -> Iterator[Finding]:
    """Yield the units from offset *least* on that match no message of these *sizes*."""
    topics = topics_with_queues(store).union(config_file(store, TOPICS).entries)
    hashes = set(map(java_string_hash, topics))
    rows = log.units[["commit_log_offset", "record_size", "topic_hash"]].tolist()
    for index, (offset, size, topic_hash) in enumerate(rows):
        if 0 <= offset < least:
            continue
        if sizes.get(offset) == size and (
            topic_hash in hashes or topic_hash == _real_hash(store, offset)
        ):
            continue
        values = {"offset": offset, "size": size, "topic_hash": topic_hash}
        yield file_finding("INV-TIMER-004", *log.place(index), **values)


def _real_hash(store: Store, offset: int) -> int | None:
    """Return the hash of the real topic of the record at *offset*; None if unknown."""
    file = store.log_file_at(offset)
    if file is None:
        return None
    with reading(store.url, file.path) as read_at:
        try:
            record = record_at(read_at, file, offset - file.base)
            place = real_place(record.properties)
        except LayoutError:
            return None
    return java_string_hash(place.topic)
