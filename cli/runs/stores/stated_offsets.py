"""Queue offsets that the consume queues of a store have units for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cli.runs.stores.commit_log_files import mapped
from reference.core.salvage.queue_offsets import QueueName, queue_of
from reference.core.store.recovery.load import is_offset
from reference.shell.storage.disk_space import written_size_of
from spec.integers import INT32_MAX
from spec.layout import LayoutError
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE
from spec.store.message_record import Record, decode_record

PLACE_SIZE = 8
"""Bytes of a unit that hold the commit-log offset."""
SIZE_SIZE = 4
"""Bytes behind them that hold the record's size."""
RecordAt = Callable[[int], Record | None]
"""Returns the record at a commit-log offset, None if no record begins there."""


class StatedRange(NamedTuple):
    """Queue offsets that have units, and the records of the first two."""

    begin: int
    end: int
    places: Sequence[int]
    """Commit-log offset of the first record, and of the second if there is one."""


def record_in(
    files: Mapping[int, Path | None], size: int, offset: int
) -> Record | None:
    """Return the record at *offset* of the log in *files* of *size* bytes.

    None means that no record begins there.
    """
    path = files.get(offset - offset % size)
    if path is None:
        return None
    with mapped(path, size) as data:
        try:
            record = decode_record(memoryview(data)[offset % size :], check_crc=False)
        except LayoutError:
            return None
    return record if record.physical_offset == offset else None


def stated_offsets(
    store: Path, log: range, record_at: RecordAt
) -> dict[QueueName, StatedRange]:
    """Return by queue the offsets of messages that *log* can have had.

    Units of earlier messages are left out: their commit-log files have expired. Units
    of later ones are garbage. A file that begins with the record of another queue is a
    copy of that queue's. Raises OSError where a directory cannot be read.
    """
    found = {}
    topics = _members(store / CONSUME_QUEUE)
    queues = [queue for topic in topics for queue in _members(topic)]
    for directory in queues:
        if not directory.name.isdecimal():
            continue
        files = [
            path
            for path in _members(directory)
            if is_offset(path.name) and path.is_file()
        ]
        name = QueueName(directory.parent.name, int(directory.name))
        is_own = partial(_is_of, name, record_at)
        ranges = [one for path in files if (one := _range_of(path, log, is_own))]
        if ranges:
            found[name] = ranges[0]._replace(end=ranges[-1].end)
    return found


def right_offsets(
    stated: Mapping[QueueName, StatedRange], record_at: RecordAt
) -> dict[int, int]:
    """Return the queue offset of each queue's first record that has a wrong one.

    The keys are commit-log offsets. The record is wrong, and not its unit, unless the
    second record disagrees with its unit, too.
    """
    found = {}
    for name, one in stated.items():
        first, *second = map(record_at, one.places)
        if first is None or queue_of(first) != name or first.queue_offset == one.begin:
            continue
        if all(
            record is None or record.queue_offset == one.begin + 1 for record in second
        ):
            found[first.physical_offset] = one.begin
    return found


def _is_of(name: QueueName, record_at: RecordAt, offset: int) -> bool:
    record = record_at(offset)
    return record is None or queue_of(record) == name


def _members(directory: Path) -> list[Path]:
    """Return the members of *directory*; `Path.glob` skips one without permission."""
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _range_of(
    path: Path, log: range, is_own: Callable[[int], bool]
) -> StatedRange | None:
    """Return the queue offsets of one file, or None without any.

    *is_own* returns whether the queue can have had the message at a commit-log offset.
    """
    with path.open("rb") as file:
        end = -(-written_size_of(file.fileno()) // UNIT_SIZE)
        file.seek(0)
        data = file.read(end * UNIT_SIZE)

    def place(number: int) -> int:
        at = number * UNIT_SIZE
        return int.from_bytes(data[at : at + PLACE_SIZE], "big")

    def is_garbage(number: int) -> bool:
        at = number * UNIT_SIZE + PLACE_SIZE
        size = int.from_bytes(data[at : at + SIZE_SIZE], "big")
        return place(number) not in log or not 0 < size < INT32_MAX

    first = bisect_left(range(end), log.start, key=place)
    while first < end and is_garbage(end - 1):
        end -= 1
    while first < end and is_garbage(first):
        first += 1
    if first == end or not is_own(place(first)):
        return None
    base = int(path.name) // UNIT_SIZE
    places = [place(number) for number in range(first, min(first + 2, end))]
    return StatedRange(base + first, base + end, places)
