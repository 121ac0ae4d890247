"""
Spark data source ``rocketmq.systemtopics``: records of system topics and their results.

These are half, op, delayed, retried and dead-letter messages, and delivered ones. They
are few, so their properties are decoded one by one. An audit reads them only where the
survey's ledger does not balance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from columns.gather import FieldColumns, Ints
from columns.record_properties import properties_of
from columns.topics import topics_of
from spark_checks.columns.record_columns import readable_records
from spark_checks.columns.record_scan import FileRange, ReadAt, Window
from spark_checks.counting_rules import (
    OP_SIZE_MAX,
    POPPED_AT,
    QUEUE_DIGITS_MAX,
    TRANSACTION_BITS,
    is_half_or_commit,
    is_own_topic,
)
from spark_checks.readers.commit_log import LogRange, LogReader
from spark_checks.readers.schemas import arrow_schema
from spark_checks.readers.table_source import TableSource
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import OP_TOPIC

_NUMBERS: Final = {
    "queue_id": "int32",
    "queue_offset": "int64",
    "system_flags": "int32",
    "born_at_ms": "int64",
    "stored_at_ms": "int64",
    "body_crc": "int32",
    "body_size": "int32",
    "reconsume_times": "int32",
    "prepared_transaction_offset": "int64",
}
_TEXTS: Final[dict[str, str]] = {
    "real_topic": Property.REAL_TOPIC,
    "unique_key": Property.UNIQ_KEY,
    "origin_id": Property.ORIGIN_MESSAGE_ID,
    "retry_topic": Property.RETRY_TOPIC,
    "popped_at": POPPED_AT,
}
SYSTEM_TOPIC_COLUMNS: Final[dict[str, str]] = {
    "kind": "string",
    "file_base": "int64",
    "position": "int64",
    "offset": "int64",
    "size": "int64",
    "topic": "string",
    **_NUMBERS,
    **dict.fromkeys(_TEXTS, "string"),
    "real_queue_id": "int32",
    "op_body": "string",
}
"""A row is a record of a system topic, or one made from such a record.

``op_body`` is the body of an op message.
"""
_queue_number = re.compile(rf"[0-9]{{1,{QUEUE_DIGITS_MAX}}}", re.ASCII)


def system_topic_rows(
    window: Window, found: FieldColumns, *, base: int
) -> Iterator[dict[str, Any]]:
    """Yield rows of the records *found* in *window* that belong to the table.

    *base* is the start offset of the file.
    """
    data = window.data
    for index in _chosen(data, found):
        start = int(window.starts[index])
        body, topic, properties = (
            _slice(data, found.places[name], index)
            for name in ("body", "topic", "properties")
        )
        name = topic.decode("utf-8", "replace")
        row: dict[str, Any] = {
            "kind": "record",
            "file_base": base,
            "position": window.position + start,
            "offset": base + window.position + start,
            "size": int(found.ends[index]) - start,
            "topic": name,
            "body_size": len(body),
            "op_body": body[:OP_SIZE_MAX].decode("latin-1")
            if name == OP_TOPIC
            else None,
        }
        row |= {
            column: int(found.numbers[column][index])
            for column in _NUMBERS
            if column != "body_size"
        }
        yield row | _of_properties(properties)


def _of_properties(data: bytes) -> dict[str, Any]:
    pairs = decode_properties(data.decode("utf-8", "replace"))
    number = pairs.get(Property.REAL_QID, "")
    return {
        **{column: pairs.get(name) for column, name in _TEXTS.items()},
        "real_queue_id": int(number) if _queue_number.fullmatch(number) else None,
    }


def _chosen(data: bytes, found: FieldColumns) -> Sequence[int]:
    """Return the indices of the records that belong to the table."""
    chosen = is_half_or_commit(found.numbers["system_flags"] & TRANSACTION_BITS)
    begins, sizes = found.places["properties"]
    split = properties_of(data, begins, begins + sizes)
    for name in (Property.REAL_TOPIC, Property.ORIGIN_MESSAGE_ID):
        chosen[split.record[split.having(name.encode())]] = True
    topics = topics_of(data, found)
    names = [name.decode("utf-8", "replace") for name in topics.names]
    are_own = np.array([is_own_topic(name) for name in names], dtype=np.bool_)
    chosen |= are_own[topics.numbers]
    indices: list[int] = np.flatnonzero(chosen).tolist()
    return indices


def _slice(data: bytes, places: tuple[Ints, Ints], index: int) -> bytes:
    begin, size = int(places[0][index]), int(places[1][index])
    return data[begin : begin + size]


_schema = arrow_schema(SYSTEM_TOPIC_COLUMNS)


class SystemTopicReader(LogReader):
    """Reads the records of system topics in a range of the log."""

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        return log_rows(read_at, part.where)


class SystemTopicSource(TableSource):
    """Reads records of system topics, with the options of ``rocketmq.commitlog``."""

    source_name = "rocketmq.systemtopics"
    columns = SYSTEM_TOPIC_COLUMNS
    reader_type = SystemTopicReader


def log_rows(read_at: ReadAt, where: FileRange) -> Iterator[pa.RecordBatch]:
    """Yield the records of system topics in a range of the log."""
    for window, found in readable_records(read_at, where):
        rows = list(system_topic_rows(window, found, base=where.base))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_schema)
