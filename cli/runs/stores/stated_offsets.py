"""Queue offsets that the consume queues of a store have units for."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

from reference.core.salvage.queue_offsets import OffsetRange, QueueName
from reference.core.store.recovery.load import is_offset
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE

PLACE_SIZE = 8
"""Bytes of a unit that hold the commit-log offset."""
SIZE_SIZE = 4
"""Bytes behind them that hold the record's size."""


def stated_offsets(store: Path, log: range) -> dict[QueueName, OffsetRange]:
    """Return by queue the offsets of messages that *log* can have had.

    Units of earlier messages are left out: their commit-log files have expired. Units
    of later ones are garbage. Raises OSError where a directory cannot be read.
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
        ranges = [one for path in files if (one := _range_of(path, log))]
        if ranges:
            name = QueueName(directory.parent.name, int(directory.name))
            found[name] = OffsetRange(ranges[0].begin, ranges[-1].end)
    return found


def _members(directory: Path) -> list[Path]:
    """Return the members of *directory*; `Path.glob` skips one without permission."""
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _range_of(path: Path, log: range) -> OffsetRange | None:
    """Return the queue offsets of one file, or None without any."""
    data = path.read_bytes()

    def place(number: int) -> int:
        at = number * UNIT_SIZE
        return int.from_bytes(data[at : at + PLACE_SIZE], "big")

    def is_garbage(number: int) -> bool:
        at = number * UNIT_SIZE + PLACE_SIZE
        size = int.from_bytes(data[at : at + SIZE_SIZE], "big")
        return place(number) not in log or not 0 < size < INT32_MAX

    end = -(-len(data.rstrip(b"\0")) // UNIT_SIZE)
    first = bisect_left(range(end), log.start, key=place)
    while first < end and is_garbage(end - 1):
        end -= 1
    while first < end and is_garbage(first):
        first += 1
    base = int(path.name) // UNIT_SIZE
    return OffsetRange(base + first, base + end) if first < end else None
