"""
The columns of records that a broker set aside, brought back or made by itself.

Half messages, delayed ones, notes, retries and dead letters, and what was delivered of
them: few among many, and only of these are properties looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from spark_checks.sources.gather import Gathered, Ints
from spark_checks.sources.record_properties import properties_of
from spark_checks.sources.topics import topics_of
from spec.store.message_record import SystemFlag
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX
from spec.wire.properties import Property, decode_properties
from spec.wire.transaction_checks import GIVEN_UP_TOPIC
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC

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
POPPED_AT: Final = "1ST_POP_TIME"
_TEXTS: Final[dict[str, str]] = {
    "real_topic": Property.REAL_TOPIC,
    "unique_key": Property.UNIQ_KEY,
    "origin_id": Property.ORIGIN_MESSAGE_ID,
    "retry_topic": Property.RETRY_TOPIC,
    "half_mark": Property.TRAN_MSG,
    "popped_at": POPPED_AT,
}
ASIDE_COLUMNS: Final[dict[str, str]] = {
    "kind": "string",
    "file_base": "int64",
    "position": "int64",
    "offset": "int64",
    "size": "int64",
    "topic": "string",
    **_NUMBERS,
    **dict.fromkeys(_TEXTS, "string"),
    "real_queue_id": "int32",
    "note": "string",
}
"""A row is a record that was set aside or came back.

``note`` is the body of a note of a decided half message.
"""
OWN_TOPICS: Final = frozenset(
    {SCHEDULE_TOPIC, HALF_TOPIC, OPERATIONS_TOPIC, GIVEN_UP_TOPIC}
)
"""Topics of which every record is a row."""
OWN_PREFIXES: Final = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
NOTE_SIZE_MAX: Final = 1 << 20
_queue_number = re.compile(r"[0-9]{1,9}", re.ASCII)


def is_own_topic(topic: str) -> bool:
    """Whether a broker writes the messages of *topic* by itself."""
    return topic in OWN_TOPICS or topic.startswith(OWN_PREFIXES)


def aside_rows(
    data: bytes, found: Gathered, starts: Ints, *, base: int
) -> Iterator[dict[str, Any]]:
    """Yield rows of the records at *starts* of *data* that belong into the table.

    *base* is the commit-log offset of the first byte of *data*.
    """
    for index in _chosen(data, found):
        start = int(starts[index])
        body, topic, properties = (
            _slice(data, found.places[name], index)
            for name in ("body", "topic", "properties")
        )
        name = topic.decode("utf-8", "replace")
        row: dict[str, Any] = {
            "kind": "record",
            "offset": base + start,
            "size": int(found.ends[index]) - start,
            "topic": name,
            "body_size": len(body),
            "note": body[:NOTE_SIZE_MAX].decode("latin-1")
            if name == OPERATIONS_TOPIC
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


def _chosen(data: bytes, found: Gathered) -> Sequence[int]:
    """Return the indices of the records that belong into the table."""
    flags = found.numbers["system_flags"] & int(SystemFlag.TRANSACTION_ROLLBACK)
    chosen = (flags != 0) & (flags != int(SystemFlag.TRANSACTION_ROLLBACK))
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
