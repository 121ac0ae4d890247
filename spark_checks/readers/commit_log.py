"""
Spark data source ``rocketmq.commitlog``: one row per record of a commit log.

A partition is a range of one file. Rows come in Arrow batches, one window at a time, so
that memory does not grow with the file. The option ``where`` excludes files and ranges
by file_base and offset. With the option ``clock_slack_ms`` it also excludes files by
store time. A schema selects columns; columns outside it are not computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from columns.gather import Ints
from columns.topics import Topics
from spark_checks.columns.record_columns import Delays, RecordColumns, read_columns
from spark_checks.columns.record_scan import (
    FileRange,
    ReadAt,
    Reading,
    Region,
    Window,
    first_store_time_of,
    scan_range,
)
from spark_checks.readers.log_part import (
    LogFile,
    first_store_time,
    parts_within,
    selected_files,
    selected_part,
    stored_within,
)
from spark_checks.readers.pushdown import conditions_in
from spark_checks.readers.schemas import (
    LOG_COLUMNS,
    WIDE_COLUMNS,
    arrow_schema,
    as_batch,
)
from spark_checks.readers.table_source import FilePart, FileReader, TableSource

RANGE_SIZE = 128 * 1024 * 1024
"""Bytes of a file that one partition reads."""
CHECKED_COLUMNS = frozenset({"computed_crc", "damage"})
"""Columns that need every byte of a record."""
_schema = arrow_schema(LOG_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange(FilePart):
    """Range of one commit-log file."""

    base: int
    file_size: int
    start: int
    end: int

    @property
    def where(self) -> FileRange:
        """Range of the file, for the record scan."""
        return FileRange(
            base=self.base, file_size=self.file_size, start=self.start, end=self.end
        )


class LogReader(FileReader[LogRange]):
    """Splits the files of a commit log into ranges."""

    part_type = LogRange
    part_name = "a range of a commit log"

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.files: list[LogFile] = [tuple(f) for f in json.loads(options["files"])]
        slack_ms = options.get("clock_slack_ms")
        self.clock_slack_ms = None if slack_ms is None else int(slack_ms)
        self.conditions = conditions_in(options)
        self.parts = json.loads(options.get("parts", "null"))

    def partitions(self) -> Sequence[InputPartition]:
        """Return the selected ranges of all files."""
        files = selected_files(self.files, self.conditions)
        if self.clock_slack_ms is not None:
            times = self.conditions.of("stored_at_ms")
            begun = [first_store_time(self.url, file) for file in files]
            files = stored_within(files, begun, times, self.clock_slack_ms)
        return [
            LogRange(
                path=path,
                base=base,
                file_size=size,
                start=start,
                end=min(start + RANGE_SIZE, part.stop),
            )
            for path, base, size in files
            for whole in (selected_part(self.url, (path, base, size), self.conditions),)
            for part in parts_within(whole, base, self.parts)
            for start in range(part.start, part.stop, RANGE_SIZE)
        ]


class CommitLogReader(LogReader):
    """Reads the requested columns of all records in a range."""

    def __init__(
        self, options: Mapping[str, str], columns: Sequence[str] = tuple(LOG_COLUMNS)
    ) -> None:
        super().__init__(options)
        self.delays = delays_in(options)
        self.columns = tuple(columns)
        self.is_wide = options.get("wide") == "true" or self._needs_wide()

    def _needs_wide(self) -> bool:
        """Whether the schema names a wide column."""
        is_whole = self.columns == tuple(LOG_COLUMNS)
        return not is_whole and not set(WIDE_COLUMNS).isdisjoint(self.columns)

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        for batch in batches(
            read_at,
            part.where,
            self.delays,
            wide=self.is_wide,
            is_checked=not CHECKED_COLUMNS.isdisjoint(self.columns),
        ):
            yield batch.select(list(self.columns))


class CommitLogSource(TableSource):
    """Reads a commit log.

    Options: ``url``, ``files`` (JSON), ``delays`` (JSON) and ``where`` (JSON). ``wide``
    fills the columns that are null without it. ``parts`` (JSON) holds the audited
    ranges of offsets, each between certain records. ``clock_slack_ms`` is the largest
    step that the broker's clock ever went back.
    """

    source_name = "rocketmq.commitlog"
    columns = LOG_COLUMNS

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of the store that the options name."""
        return CommitLogReader(self.options, schema.fieldNames())


def delays_in(options: Mapping[str, str]) -> Delays:
    """Return milliseconds by delay level from the option ``delays``."""
    levels = json.loads(options.get("delays", "{}"))
    return {int(level): int(delay) for level, delay in levels.items()}


def batches(
    read_at: ReadAt,
    where: FileRange,
    delays: Delays,
    *,
    wide: bool = False,
    is_checked: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the range *where* as Arrow batches."""
    begun_at_ms = first_store_time_of(read_at, where)

    def read(window: Window) -> Reading[pa.RecordBatch | None]:
        columns, refused = read_columns(
            window, delays, begun_at_ms=begun_at_ms, is_checked=is_checked
        )
        if columns is None:
            return None, refused
        return _record_rows(columns, where, window.data if wide else None), refused

    for found in scan_range(read_at, where, read):
        if isinstance(found, Region):
            yield _region_row(found, where)
        elif found is not None:
            yield found


def _record_rows(
    columns: RecordColumns, where: FileRange, data: bytes | None
) -> pa.RecordBatch:
    """Return *columns* as rows, with the wide columns if *data* is given."""
    fixed = columns.fixed
    known = {
        **{name: fixed[name] for name in fixed if name not in WIDE_COLUMNS},
        "file_base": where.base,
        "file_size": where.file_size,
        "offset": fixed["position"] + where.base,
        "tags_code": columns.tags_codes,
        "computed_crc": columns.body_crcs,
        "damage": columns.damage,
        "kind": "record",
        "topic": _texts(columns.topics),
        **(_wide(columns, data) if data is not None else {}),
    }
    return as_batch(_schema, len(columns.tags_codes), known)


def _wide(columns: RecordColumns, data: bytes) -> dict[str, Ints | pa.Array]:
    """Return the wide columns."""
    begins, ends = (places.tolist() for places in columns.properties)
    texts = [
        data[begin:end].decode("utf-8", "replace")
        for begin, end in zip(begins, ends, strict=True)
    ]
    places = zip(*(p.tolist() for p in columns.born_addresses), strict=True)
    hosts = [str(ip_address(data[begin : begin + size])) for begin, size in places]
    return {
        "body_size": columns.fixed["body_size"],
        "reconsume_times": columns.fixed["reconsume_times"],
        "born_host": pa.array(hosts, pa.string()),
        "properties": pa.array(texts, pa.string()),
    }


def _texts(topics: Topics) -> pa.Array:
    """Return *topics* as text; each distinct topic is decoded once."""
    texts = pa.array([topic.decode("utf-8", "replace") for topic in topics.names])
    return texts.take(pa.array(topics.numbers))


def _region_row(region: Region, where: FileRange) -> pa.RecordBatch:
    row = {
        "file_base": where.base,
        "file_size": where.file_size,
        "position": region.position,
        "offset": where.base + region.position,
        "size": region.size,
        "kind": region.kind,
        "reason": region.reason,
    }
    return as_batch(_schema, 1, row)
