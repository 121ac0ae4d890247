"""
Spark data sources of queues: one row per written unit.

``rocketmq.consumequeue`` reads consume queues, ``rocketmq.batchconsumequeue`` batch
consume queues (Java: BatchConsumeQueue). A unit of zeros is unwritten, or a hole, and
has no row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from columns.gather import dtype_of
from columns.scan.log_file import ReadAt
from columns.scan.record_columns import Queue, QueuePart
from spark_checks.file_systems import ranges_with_data
from spark_checks.readers.pushdown import Conditions
from spark_checks.readers.schemas import UNIT, arrow_schema, as_batch
from spark_checks.readers.table_source import FileSource
from spark_checks.store_files import StoreFile, queue_in
from spec.store.batch_queue import BATCH_QUEUE, batch_unit_layout
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE

UNITS_AT_ONCE = 200_000
"""Units in one Arrow batch: about as many as small files are read together."""


@dataclass(frozen=True, slots=True)
class UnitRange:
    """Bytes of a queue's file, from one unit to another."""

    file: StoreFile
    span: range

    @property
    def path(self) -> str:
        """Path of the file, relative to the store."""
        return self.file.path

    @property
    def byte_count(self) -> int:
        """Number of bytes to read."""
        return len(self.span)


class ConsumeQueueSource(FileSource[UnitRange]):
    """
    Reads consume queues. Options: ``url``, ``files`` (JSON), ``where`` (JSON). With
    ``queues`` (JSON) the rows are those in these parts of queues.
    """

    source_name = "rocketmq.consumequeue"
    directory: ClassVar[str] = CONSUME_QUEUE
    unit: ClassVar[np.dtype[Any]] = UNIT
    marks: ClassVar[Sequence[str]] = ("size", "commit_log_offset", "tags_code")
    """Fields of which a written unit has one that is not 0."""

    def parts(self) -> Sequence[UnitRange]:
        """Return the allocated ranges of units that are selected."""
        unit_size, queues = self.unit.itemsize, self.option("queues")
        selected = (
            selected_units(file, self.conditions, queue_in(file, self.directory))
            for file in self.files
        )
        return [
            UnitRange(part.file, held.span[first : first + UNITS_AT_ONCE * unit_size])
            for part in (selected if queues is None else parts_in(selected, queues))
            for held in allocated(self.url, part, unit_size)
            for first in range(0, held.byte_count, UNITS_AT_ONCE * unit_size)
        ]

    def batches_in(self, read_at: ReadAt, part: UnitRange) -> Iterator[pa.RecordBatch]:
        """Yield the written units of one range."""
        units, positions = written_units(read_at, part.span, self.unit, self.marks)
        topic, queue_id = queue_in(part.file, self.directory)
        base = part.file.base
        columns = {
            **{name: units[name] for name in self.unit.names or ()},
            "file_base": base,
            "file_size": part.file.size,
            "position": positions,
            "topic": topic,
            "queue_id": queue_id,
            "queue_offset": (base + positions) // UNIT_SIZE,
        }
        if len(units):
            yield as_batch(arrow_schema(self.source_name), len(units), columns)


class BatchConsumeQueueSource(ConsumeQueueSource):
    """Reads batch consume queues. Options: ``url``, ``files`` (JSON)."""

    source_name = "rocketmq.batchconsumequeue"
    directory = BATCH_QUEUE
    unit = dtype_of(batch_unit_layout)
    marks = ("size", "message_count")


def selected_units(file: StoreFile, conditions: Conditions, queue: Queue) -> UnitRange:
    """Return the units of *file* that *conditions* may select, by the file's name."""
    topic, queue_id = queue
    base = file.base
    first, count = base // UNIT_SIZE, file.size // UNIT_SIZE
    if not (
        conditions.may_equal("topic", topic)
        and conditions.may_overlap("queue_id", queue_id, queue_id)
        and conditions.may_overlap("file_base", base, base)
        and conditions.may_overlap("queue_offset", first, first + count - 1)
    ):
        return UnitRange(file, range(0))
    least, most = conditions.bounds("queue_offset")
    begin = max(least - first, 0) * UNIT_SIZE
    return UnitRange(file, range(begin, min((most - first + 1) * UNIT_SIZE, file.size)))


def parts_in(
    ranges: Iterable[UnitRange], parts: Iterable[QueuePart]
) -> Iterator[UnitRange]:
    """Yield the pieces of *ranges* that lie in *parts* of queues, given in order."""
    of_queue: dict[Queue, list[tuple[int, int]]] = defaultdict(list)
    for topic, queue_id, first, last in parts:
        of_queue[topic, queue_id].append((first, last))
    for one in ranges:
        base = one.file.base // UNIT_SIZE
        for first, last in of_queue[queue_in(one.file)]:
            begin = max((first - base) * UNIT_SIZE, one.span.start)
            end = min((last - base + 1) * UNIT_SIZE, one.span.stop)
            yield UnitRange(one.file, range(begin, end))


def allocated(url: str, part: UnitRange, unit_size: int) -> Iterator[UnitRange]:
    """Yield the ranges of whole units in *part* that the disk has allocated."""
    if not part.span:
        return  # the conditions exclude it, so it is not opened
    reached, last = part.span.start, part.span.stop // unit_size * unit_size
    for held in ranges_with_data(url, part.path, part.file.size):
        begin = max(held.start // unit_size * unit_size, reached)
        end = min(-(-held.stop // unit_size) * unit_size, last)
        if begin < end:
            yield UnitRange(part.file, range(begin, end))
            reached = end


def written_units(
    read_at: ReadAt,
    span: range,
    unit: np.dtype[Any] = UNIT,
    marks: Sequence[str] = ConsumeQueueSource.marks,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the written units in the bytes *span* of a file, and their positions."""
    data = read_at(span.start, len(span))
    filled = -(-len(data.rstrip(b"\0")) // unit.itemsize)  # holes are mostly last
    found = np.frombuffer(data, unit, min(filled, len(data) // unit.itemsize))
    written = np.arange(len(found))
    if not found["size"].all():
        is_written = np.logical_or.reduce([found[name] != 0 for name in marks])
        written = np.flatnonzero(is_written)
        found = found[written]
    return found, span.start + written * unit.itemsize
