"""
Spark data source ``rocketmq.consumequeue``: one row per written unit.

Queues are many and their files small. A partition is therefore several files, or a part
of a large one. A unit of zeros is unwritten, or a hole, and has no row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from columns.scan.log_file import ReadAt
from columns.scan.record_columns import Queue, QueuePart
from spark_checks.file_systems import ranges_with_data, reading
from spark_checks.readers.pushdown import Conditions
from spark_checks.readers.schemas import UNIT, arrow_schema, as_batch
from spark_checks.readers.table_source import TableSource
from spark_checks.store_files import StoreFile, queue_in
from spec.store.consume_queue import UNIT_SIZE

UNITS_AT_ONCE = 200_000
"""Units in one Arrow batch."""
PARTITION_SIZE = 32 * 1024 * 1024
"""Bytes that one partition reads."""
_schema = arrow_schema("rocketmq.consumequeue")

Piece = tuple[StoreFile, range]
"""A file, and a range of its units, counted from the file's begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePieces(InputPartition):
    """Pieces of consume-queue files."""

    pieces: tuple[Piece, ...]

    @property
    def byte_count(self) -> int:
        """Number of bytes to read."""
        return sum(len(units) for _, units in self.pieces) * UNIT_SIZE


class ConsumeQueueSource(TableSource[QueuePieces]):
    """
    Reads consume queues. Options: ``url``, ``files`` (JSON), ``partitions``, ``where``
    (JSON). With ``queues`` (JSON) the rows are those in these parts of queues.
    """

    source_name = "rocketmq.consumequeue"

    def partitions(self) -> Sequence[InputPartition]:
        """Return partitions with about as many allocated units each."""
        selected = (
            (file, selected_units(file, self.conditions)) for file in self.files
        )
        queues = self.option("queues")
        wanted = selected if queues is None else pieces_in(selected, queues)
        pieces = [
            held for piece in wanted for held in allocated_pieces(self.url, piece)
        ]
        total = sum(len(units) for _, units in pieces)
        count = int(self.options.get("partitions", "2"))
        limit = min(PARTITION_SIZE // UNIT_SIZE, total // count + 1)
        return list(group_pieces(pieces, limit))

    def batches_of(self, part: QueuePieces) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files of one partition."""
        for file, units in part.pieces:
            with reading(self.url, file.path) as read_at:
                yield from batches(read_at, file, units)


def selected_units(file: StoreFile, conditions: Conditions) -> range:
    """Return the units of *file* that *conditions* may select, by the file's name."""
    topic, queue_id = queue_in(file)
    base = file.base
    first, count = base // UNIT_SIZE, file.size // UNIT_SIZE
    if not (
        conditions.may_equal("topic", topic)
        and conditions.may_overlap("queue_id", queue_id, queue_id)
        and conditions.may_overlap("file_base", base, base)
        and conditions.may_overlap("queue_offset", first, first + count - 1)
    ):
        return range(0)
    least, most = conditions.bounds("queue_offset")
    begin = max(least - first, 0)
    return range(begin, max(begin, min(most - first + 1, count)))


def pieces_in(pieces: Iterable[Piece], parts: Iterable[QueuePart]) -> Iterator[Piece]:
    """Yield the pieces of *pieces* that lie in *parts* of queues, given in order."""
    of_queue: dict[Queue, list[tuple[int, int]]] = defaultdict(list)
    for topic, queue_id, first, last in parts:
        of_queue[topic, queue_id].append((first, last))
    for file, units in pieces:
        base = file.base // UNIT_SIZE
        for first, last in of_queue[queue_in(file)]:
            begin = max(first - base, units.start)
            yield file, range(begin, min(last - base + 1, units.stop))


def group_pieces(pieces: Iterable[Piece], limit: int) -> Iterator[QueuePieces]:
    """Yield partitions of at most *limit* units, made of *pieces* in order."""
    taken: list[Piece] = []
    left = limit
    for file, units in pieces:
        begin = units.start
        while begin < units.stop:
            part = range(begin, min(begin + left, units.stop))
            taken.append((file, part))
            begin, left = part.stop, left - len(part)
            if not left:
                yield QueuePieces(pieces=tuple(taken))
                taken, left = [], limit
    if taken:
        yield QueuePieces(pieces=tuple(taken))


def allocated_pieces(url: str, piece: Piece) -> Iterator[Piece]:
    """Yield the parts of *piece* that the disk has allocated."""
    file, units = piece
    if not units:
        return  # the conditions exclude it, so it is not opened
    reached = units.start
    for held in ranges_with_data(url, file.path, file.size):
        begin = max(held.start // UNIT_SIZE, reached)
        end = min(-(-held.stop // UNIT_SIZE), units.stop)
        if begin < end:
            yield file, range(begin, end)
            reached = end


def batches(read_at: ReadAt, file: StoreFile, units: range) -> Iterator[pa.RecordBatch]:
    """Yield the written units among *units* of *file*."""
    topic, queue_id = queue_in(file)
    base = file.base
    for found, positions in written_units(read_at, units):
        columns = {
            **{name: found[name] for name in UNIT.names or ()},
            "file_base": base,
            "file_size": file.size,
            "position": positions,
            "topic": topic,
            "queue_id": queue_id,
            "queue_offset": (base + positions) // UNIT_SIZE,
        }
        yield as_batch(_schema, len(found), columns)


def written_units(
    read_at: ReadAt, units: range
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int64]]]:
    """Yield the written units among *units* of a file, and their positions."""
    for first in range(units.start, units.stop, UNITS_AT_ONCE):
        start = first * UNIT_SIZE
        count = min(UNITS_AT_ONCE, units.stop - first)
        data = read_at(start, count * UNIT_SIZE)
        filled = -(-len(data.rstrip(b"\0")) // UNIT_SIZE)  # holes are mostly last
        found = np.frombuffer(data, UNIT, min(filled, len(data) // UNIT_SIZE))
        written = np.arange(len(found))
        if not found["size"].all():
            is_written = (found["size"] != 0) | (found["commit_log_offset"] != 0)
            written = np.flatnonzero(is_written | (found["tags_code"] != 0))
            found = found[written]
        if len(written):
            yield found, start + written * UNIT_SIZE
