"""
The Spark source ``rocketmq.survey``: a store read once, and boiled down on the way.

A row says of a window of the log, a piece of a consume queue or a part of an index file
how many there are of what, and what they sum up to (side: log, queue, index or keys).
Records that a broker set aside or brought back are rows of their own (aside), and so
are the times at which delayed messages are due (due). A store in order needs no more.

A partition is some pieces of files, of any kind, about as many bytes as the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.sources import index
from spark_checks.sources.aside_columns import ASIDE_COLUMNS, aside_rows
from spark_checks.sources.commit_log import RANGE_SIZE, CommitLogReader, LogRange
from spark_checks.sources.consume_queue import (
    ConsumeQueueReader,
    Piece,
    QueueFiles,
    held_pieces,
    queue_in,
    written_units,
)
from spark_checks.sources.gather import Ints
from spark_checks.sources.index import IndexFile, IndexReader
from spark_checks.sources.key_hashes import key_hashes
from spark_checks.sources.record_columns import RecordColumns, read_columns
from spark_checks.sources.record_keys import sums_of_keys, within
from spark_checks.sources.record_scan import (
    FileRange,
    ReadAt,
    Region,
    Window,
    begun_at,
    scan_range,
)
from spark_checks.sources.schemas import arrow_schema, spark_schema
from spark_checks.sources.spark_hash import xor_of
from spark_checks.sources.store_files import reading
from spark_checks.sources.sums import Asked, sums_of_records, sums_of_units
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.delay_levels import SCHEDULE_TOPIC

SUMS: Final = (
    *("rows", "matched", "first", "last", "hash", "bytes"),
    *("bad_checksums", "bad_places", "flawed", "commits"),
    *("end", "last_ms", "first_file", "last_file"),
)
SURVEY_COLUMNS: Final[dict[str, str]] = {
    "side": "string",
    **ASIDE_COLUMNS,
    "tagged_hash": "int64",
    "due_ms": "int64",
    **dict.fromkeys(SUMS, "int64"),
}
PIECE_SIZE_MIN: Final = 4 * 1024 * 1024
"""Bytes below which a partition is not worth its task."""
TASKS_EACH: Final = 4
"""Partitions for each processor, so that none waits long for the last one."""
_schema = arrow_schema(SURVEY_COLUMNS)
_aside_schema = arrow_schema(ASIDE_COLUMNS)
Part = LogRange | QueueFiles | IndexFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(InputPartition):
    """Pieces of files that one task reads."""

    parts: tuple[Part, ...]


class SurveySource(DataSource):
    """
    Surveys a store. Options: ``url``; ``log``, ``queues`` and ``index``, each the files
    as the source of that kind takes them; ``partitions``; ``asked`` (JSON), the members
    of :class:`spark_checks.sources.sums.Asked`.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "rocketmq.survey"

    def schema(self) -> str:
        """Return the columns of a row."""
        return spark_schema(SURVEY_COLUMNS)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return SurveyReader(self.options)


class SurveyReader(DataSourceReader):
    """Deals pieces of all files out to partitions, and reads some pieces."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]
        self.count = int(options.get("partitions", "2")) * TASKS_EACH
        asked = json.loads(options.get("asked", "{}"))
        levels = asked.pop("delays", {})
        others = frozenset(asked.pop("other_topics", ()))
        self.asked = Asked(
            delays={int(level): int(delay) for level, delay in levels.items()},
            other_topics=others,
            **asked,
        )
        begin = [["offset", ">=", self.asked.begin]] if self.asked.begin else []
        of_log = {"files": options["log"], "where": json.dumps(begin)}
        of_queues = {"files": options["queues"], "partitions": str(self.count)}
        self.readers: tuple[DataSourceReader, ...] = (
            CommitLogReader({"url": self.url, **of_log}),
            ConsumeQueueReader({"url": self.url, **of_queues}),
            IndexReader({"url": self.url, "files": options["index"]}),
        )

    def partitions(self) -> Sequence[InputPartition]:
        """Return partitions of about equal size."""
        parts: list[Any] = [p for one in self.readers for p in one.partitions()]
        total = sum(map(size_of, parts))
        limit = max(min(total // self.count + 1, RANGE_SIZE), PIECE_SIZE_MIN)
        return list(packed(parts, limit))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some pieces."""
        if partition is None:  # so Spark says that there are no partitions
            return
        if not isinstance(partition, Parts):
            raise TypeError(f"{partition!r} is not a set of pieces of files")
        for part in partition.parts:
            yield from self._rows(part)

    def _rows(self, part: Part) -> Iterator[pa.RecordBatch]:
        if isinstance(part, QueueFiles):
            for piece in part.pieces:
                with reading(self.url, piece[0][0]) as read_at:
                    for held in held_pieces(self.url, piece):
                        yield from queue_rows(read_at, held, self.asked)
            return
        with reading(self.url, part.path) as read_at:
            if isinstance(part, IndexFile):
                yield from index_rows(read_at, part, self.asked)
                return
            yield from log_rows(read_at, part.where, self.asked)


def size_of(part: Part) -> int:
    """Return about how many bytes are read of *part*."""
    if isinstance(part, LogRange):
        return part.end - part.start
    if isinstance(part, QueueFiles):
        return sum(len(units) for _, units in part.pieces) * UNIT_SIZE
    return part.size


def packed(parts: Iterable[Part], limit: int) -> Iterator[Parts]:
    """Yield partitions of *parts*, in order, of *limit* bytes or one part each."""
    taken: list[Part] = []
    room = limit
    for part in parts:
        size = size_of(part)
        if taken and size > room:
            yield Parts(parts=tuple(taken))
            taken, room = [], limit
        taken.append(part)
        room -= size
    if taken:
        yield Parts(parts=tuple(taken))


def log_rows(
    read_at: ReadAt, where: FileRange, asked: Asked
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a range of the log."""
    begun_at_ms = begun_at(read_at, where)
    scan = scan_range(read_at, where)
    found = next(scan, None)
    while found is not None:
        refused = None
        if isinstance(found, Region):
            if where.base + found.position >= asked.begin:
                yield _of_region(found, where)
        else:
            columns, refused = read_columns(
                found, asked.delays, begun_at_ms=begun_at_ms
            )
            if columns is not None:
                yield from _of_window(found, columns, where, asked)
        try:
            found = scan.send(refused)
        except StopIteration:
            return


def _of_region(region: Region, where: FileRange) -> pa.RecordBatch:
    return _batch(
        {
            "side": ["log"],
            "kind": [region.kind],
            "rows": [1],
            "first_file": [where.base],
        }
    )


def _of_window(
    window: Window, columns: RecordColumns, where: FileRange, asked: Asked
) -> Iterator[pa.RecordBatch]:
    begin = where.base + window.position
    offsets = columns.fixed["position"] + where.base
    kept = np.flatnonzero(offsets >= asked.begin)
    if not len(kept):
        return
    yield _batch(sums_of_records(columns, kept, base=where.base, asked=asked))
    if asked.ranges:
        keys = key_hashes(window.data, columns.found)
        plain, tagged = sums_of_keys(keys, offsets[keys.record], asked.ranges)
        yield _batch({"side": ["keys"], "hash": [plain], "tagged_hash": [tagged]})
    if asked.is_aside_wanted:
        starts = columns.fixed["position"] - window.position
        rows = [
            {**row, "file_base": where.base, "position": row["offset"] - where.base}
            for row in aside_rows(window.data, columns.found, starts, base=begin)
            if row["offset"] >= asked.begin
        ]
        if rows:
            table = pa.RecordBatch.from_pylist(rows, schema=_aside_schema)
            yield _batch(
                {
                    "side": pa.repeat(pa.scalar("aside"), len(rows)),
                    **dict(zip(table.schema.names, table.columns, strict=True)),
                }
            )


def queue_rows(read_at: ReadAt, piece: Piece, asked: Asked) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some units of a consume-queue file."""
    file, whole = piece
    queue = queue_in(file[0])
    for units, positions in written_units(read_at, file, whole):
        queue_offsets: Ints = (file[1] + positions) // UNIT_SIZE
        yield _batch(sums_of_units(queue, queue_offsets, units, asked=asked))
        if queue[0] == SCHEDULE_TOPIC and asked.is_aside_wanted:
            yield _batch(
                {
                    "side": pa.repeat(pa.scalar("due"), len(units)),
                    "offset": units["commit_log_offset"].astype(np.int64),
                    "due_ms": units["tags_code"].astype(np.int64),
                }
            )


def index_rows(
    read_at: ReadAt, file: IndexFile, asked: Asked
) -> Iterator[pa.RecordBatch]:
    """Yield how many items and slots of *file* are flawed, and a sum of its items."""
    for batch in index.batches(read_at, file):
        rows = batch.filter(batch["number"].is_valid())
        offsets = rows["commit_log_offset"].to_numpy()
        flawed = rows["flaws"].to_numpy() != 0
        flawed &= (offsets < 0) | (offsets >= asked.begin)
        inside = within(offsets, asked.ranges)
        codes = rows["key_hash"].to_numpy().astype(np.int64)
        slots = batch.num_rows - rows.num_rows  # those that have a row are flawed
        yield _batch(
            {
                "side": ["index"],
                "flawed": [int(flawed.sum()) + slots],
                "hash": [xor_of(offsets[inside], codes[inside])],
            }
        )


def _batch(known: Mapping[str, Any]) -> pa.RecordBatch:
    """Return rows of which only the *known* columns are not null."""
    count = len(known["side"])
    arrays = [_array(known.get(field.name), field.type, count) for field in _schema]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema)


def _array(column: Any, kind: pa.DataType, count: int) -> pa.Array:
    if column is None:
        return pa.nulls(count, kind)
    return column if isinstance(column, pa.Array) else pa.array(column, kind)
