"""
Spark data source ``rocketmq.multidispatch``: one row per additional queue of a record.

The property INNER_MULTI_DISPATCH names LMQs and, in 4.9.3 to 4.9.8, queues of other
topics. A batch, and any record of a topic with batch consume queues, has one row for
its batch consume queue. Damaged regions are skipped, because ``rocketmq.commitlog``
reports them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Any, Final

import pyarrow as pa

from columns.gather import values_of
from columns.scan.log_file import LogRange, ReadAt
from columns.scan.record_columns import RecordColumns, read_columns
from columns.scan.record_scan import Region, scan_range
from spark_checks.readers.commit_log import LogSource
from spark_checks.readers.schemas import arrow_schema
from spec.layout import LayoutError
from spec.wire.message import multi_dispatch
from spec.wire.message.properties import Property, decode_properties

INNER_BASE = "INNER_BASE"
"""Queue offset of a batch's first message; the broker adds this property."""
_MARKS: Final = (
    f"{multi_dispatch.OFFSETS}\x01".encode(),
    f"{Property.INNER_NUM}\x01".encode(),
)
_FROM_RECORD = ("size", "system_flags", "stored_at_ms")
_count = re.compile(r"[0-9]{1,5}", re.ASCII)
_number = re.compile(r"[0-9]{1,18}", re.ASCII)
_schema = arrow_schema("rocketmq.multidispatch")
Place = tuple[str, str, int, int]
"""Kind, queue, queue offset, messages."""


class MultiDispatchSource(LogSource):
    """Reads a commit log, with the options of ``rocketmq.commitlog``.

    ``batch_topics`` (JSON) are the topics with batch consume queues.
    """

    source_name = "rocketmq.multidispatch"

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        delays, batch_topics = self.delays, frozenset(self.option("batch_topics", ()))
        for found in scan_range(read_at, part):
            if isinstance(found, Region):
                continue
            if batch_topics or any(mark in found.data for mark in _MARKS):
                columns = read_columns(found, delays, is_checked=False)
                rows = list(_rows(columns, part.base, batch_topics))
                yield pa.RecordBatch.from_pylist(rows, schema=_schema)


def _rows(
    columns: RecordColumns, base: int, batch_topics: Set[str]
) -> Iterator[dict[str, Any]]:
    names = columns.topics.texts
    properties = values_of(columns.data, columns.found.places["properties"])
    for index, text in enumerate(properties):
        own_topic = names[columns.topics.numbers[index]]
        is_batched = own_topic in batch_topics
        if not is_batched and not any(mark in text for mark in _MARKS):
            continue
        numbers = columns.found.numbers
        fixed = {name: int(column[index]) for name, column in numbers.items()}
        offset = int(columns.offsets[index])
        places = places_of(
            text.decode("utf-8", "replace"),
            own_topic,
            batch_offset=fixed["queue_offset"] if is_batched else None,
        )
        for kind, queue, number, count in places:
            yield {
                "file_base": base,
                "position": offset - base,
                "offset": offset,
                **{name: fixed[name] for name in _FROM_RECORD},
                "own_topic": own_topic,
                "own_queue_id": fixed["queue_id"],
                "tags_code": int(columns.tags_codes[index]),
                "kind": kind,
                "queue": queue,
                "number": number,
                "message_count": count,
            }


def places_of(
    text: str, own_topic: str, *, batch_offset: int | None = None
) -> Iterator[Place]:
    """Yield the additional places of a record of *own_topic* with properties *text*.

    A broker's settings decide whether it dispatches the record to them. *batch_offset*
    is the record's queue offset if its topic has batch consume queues.
    """
    properties = decode_properties(text)
    try:
        others = multi_dispatch.dispatches_of(properties)
    except LayoutError:
        others = []
    for other in others:
        kind = "lmq" if other.is_light else "shared"
        yield kind, other.queue, other.queue_offset, 1
    count = properties.get(Property.INNER_NUM, "")
    first = properties.get(INNER_BASE, "")
    if _count.fullmatch(count) and _number.fullmatch(first):
        yield "batch", own_topic, int(first), int(count)
    elif batch_offset is not None:
        yield "batch", own_topic, batch_offset, 1
