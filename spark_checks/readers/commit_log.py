"""
Spark data source ``rocketmq.commitlog``: one row per record of a commit log.

A partition is a range of one file. Rows come in Arrow batches, one window at a time, so
that memory does not grow with the file. The option ``where`` excludes files and ranges
by file_base and offset. With the option ``clock_slack_ms`` it also excludes files by
store time. A schema selects columns; columns outside it are not computed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from ipaddress import ip_address

import pyarrow as pa

from columns.gather import Ints, values_of
from columns.scan.log_file import LogRange, ReadAt, store_time_at
from columns.scan.record_columns import (
    Delays,
    QueuePart,
    RecordColumns,
    read_columns,
)
from columns.scan.record_scan import Region, scan_range
from spark_checks.readers import log_part
from spark_checks.readers.schemas import COLUMNS, arrow_schema, as_batch
from spark_checks.readers.table_source import FileSource
from spark_checks.store_files import Store

RANGE_SIZE = 128 * 1024 * 1024
"""Bytes of a file that one partition reads."""
CHECKED_COLUMNS = frozenset({"computed_crc", "damage"})
"""Columns that need every byte of a record."""
WIDE_COLUMNS = frozenset({"body_size", "reconsume_times", "born_host", "properties"})
"""Columns that are slow to read, and null unless requested."""
_schema = arrow_schema("rocketmq.commitlog")


def log_options(store: Store) -> dict[str, str]:
    """Return the options of the audited part of the log of *store*."""
    return {"parts": json.dumps(store.ranges), "cut_at": json.dumps(store.cut_at)}


class LogSource(FileSource[LogRange]):
    """Splits the files of a commit log into ranges."""

    @property
    def delays(self) -> Delays:
        """Milliseconds by delay level."""
        levels = self.option("delays", {})
        return {int(level): int(delay) for level, delay in levels.items()}

    def parts(self) -> Sequence[LogRange]:
        """Return the selected ranges of all files."""
        audited, cut_at = self.option("parts"), self.option("cut_at")
        files = log_part.selected_files(self.files, self.conditions)
        slack_ms = self.option("clock_slack_ms")
        if slack_ms is not None:
            times = self.conditions.bounds("stored_at_ms")
            begun = [log_part.first_store_time(self.url, file) for file in files]
            files = log_part.stored_within(files, begun, times, slack_ms)
        return [
            piece
            for file in files
            for part in log_part.audited_ranges(
                log_part.selected_part(self.url, file, self.conditions), audited
            )
            for rest in log_part.part_before(part, cut_at)
            for piece in rest.cut(RANGE_SIZE)
        ]


class CommitLogSource(LogSource):
    """Reads the selected columns of a commit log.

    Options: ``url``, ``files`` (JSON), ``delays`` (JSON) and ``where`` (JSON). ``wide``
    fills the columns that are null without it. ``parts`` (JSON) holds the audited
    ranges of offsets, each between certain records. With ``queues`` (JSON) the rows are
    those in these parts of queues, and wrong ones. ``clock_slack_ms`` is the largest
    step that the broker's clock ever went back.
    """

    source_name = "rocketmq.commitlog"

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        is_whole = tuple(self.selected) == tuple(COLUMNS[self.source_name])
        names_wide = not is_whole and not WIDE_COLUMNS.isdisjoint(self.selected)
        queues = self.option("queues")
        is_checked = not CHECKED_COLUMNS.isdisjoint(self.selected)
        for batch in batches(
            read_at,
            part,
            self.delays,
            wide=names_wide or self.options.get("wide") == "true",
            is_checked=is_checked or queues is not None,
            queues=queues,
        ):
            yield batch.select(list(self.selected))


def batches(
    read_at: ReadAt,
    where: LogRange,
    delays: Delays,
    *,
    wide: bool = False,
    is_checked: bool = True,
    queues: Collection[QueuePart] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the range *where* as Arrow batches.

    With *queues*, yield the records in these parts of queues, and wrong ones; regions
    in any case.
    """
    begun_at_ms = store_time_at(read_at, where, 0)
    for found in scan_range(read_at, where):
        if isinstance(found, Region):
            yield _region_row(found, where)
            continue
        columns = read_columns(
            found, delays, begun_at_ms=begun_at_ms, is_checked=is_checked
        )
        if queues is None:
            yield _record_rows(columns, where, wide=wide)
            continue
        wanted = columns.are_wrong | columns.are_in(queues)
        if wanted.any():
            yield _record_rows(columns, where, wide=wide).filter(pa.array(wanted))


def _record_rows(
    columns: RecordColumns, where: LogRange, *, wide: bool
) -> pa.RecordBatch:
    """Return *columns* as rows, with the slow columns if *wide*."""
    fixed = columns.found.numbers
    names = pa.array(columns.topics.texts, pa.string())  # each distinct one once
    known = {
        **{name: fixed[name] for name in fixed if name not in WIDE_COLUMNS},
        "file_base": where.base,
        "file_size": where.file_size,
        "position": columns.offsets - where.base,
        "offset": columns.offsets,
        "tags_code": columns.tags_codes,
        "computed_crc": columns.body_crcs,
        "damage": columns.damage,
        "kind": "record",
        "topic": names.take(pa.array(columns.topics.numbers)),
        **(_wide(columns) if wide else {}),
    }
    return as_batch(_schema, len(columns.tags_codes), known)


def _wide(columns: RecordColumns) -> dict[str, Ints | pa.Array]:
    """Return the wide columns."""
    places, numbers = columns.found.places, columns.found.numbers
    properties = values_of(columns.data, places["properties"])
    texts = [one.decode("utf-8", "replace") for one in properties]
    addresses = values_of(columns.data, places["born_host_address"])
    hosts = [str(ip_address(address)) for address in addresses]
    return {
        "body_size": numbers["body_size"],
        "reconsume_times": numbers["reconsume_times"],
        "born_host": pa.array(hosts, pa.string()),
        "properties": pa.array(texts, pa.string()),
    }


def _region_row(region: Region, where: LogRange) -> pa.RecordBatch:
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
