"""
Ledger of system topics: a few numbers for each of their records.

Half messages, commits, op messages, delayed and delivered messages each have a table of
numbers; texts become hashes. If all tables balance, the records are not read again
(:mod:`spark_checks.checks.balance`). The ledger is incomplete if properties are
ambiguous or the rows too many. Spark then compares the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from columns.gather import Ints, Places
from columns.record_properties import Properties, places_once
from columns.topics import Topics
from columns.uint64_words import WORD, text_hashes
from spark_checks.columns.record_columns import RecordColumns
from spark_checks.columns.spark_hash import hash_of_longs
from spark_checks.counting_rules import (
    LATER_TOPICS,
    OP_SIZE_MAX,
    POPPED_AT,
    TRANSACTION_BITS,
    is_commit,
    is_half,
    is_half_or_commit,
    is_own_topic,
    lacks_origin,
    lacks_topic,
)
from spark_checks.survey.ledger_values import (
    NOTHING,
    are_ids,
    numbers_listed,
    queue_numbers,
)
from spark_checks.survey.sums import Bools, SurveyOptions
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import (
    DLQ_PREFIX,
    HALF_TOPIC,
    OP_TOPIC,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
)

ROWS_MAX: Final = 2_000_000
"""Largest number of rows; beyond it Spark compares the records."""
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "halves": ("offset", "queue_id", "number", "stored_at_ms", "message", "key"),
    "commits": ("offset", "half_at", "message", "key"),
    "ops": ("offset", "queue_id", "number"),
    "delayed": ("message", "offset", "queue_id", "number", "due_ms"),
    "delivered": ("message", "offset", "stored_at_ms"),
}
"""Columns of each table. ``message`` and ``key`` are hashes, ``number`` is a queue
offset."""
_NAMES = tuple(
    str(name).encode()
    for name in (
        Property.REAL_TOPIC,
        Property.REAL_QID,
        Property.UNIQ_KEY,
        Property.ORIGIN_MESSAGE_ID,
        Property.RETRY_TOPIC,
        POPPED_AT,
    )
)
_REAL_TOPIC, _REAL_QUEUE, _UNIQUE_KEY, _ORIGIN, _RETRY_TOPIC, _POPPED_AT = _NAMES
Rows = dict[str, list[tuple[Ints, ...]]]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Rows of a store, or of a part of one."""

    rows: Rows = field(default_factory=dict)
    """Row blocks by the names of COLUMNS."""
    is_incomplete: bool = False
    """Whether records were ambiguous, or too many."""
    bad_send_backs: int = 0
    """Retries and dead letters that may not name their origin."""

    def plus(self, other: Ledger) -> Ledger:
        """Return the ledger of both parts."""
        rows = {
            name: [*self.rows.get(name, ()), *other.rows.get(name, ())]
            for name in {**self.rows, **other.rows}
        }
        is_incomplete = (
            self.is_incomplete or other.is_incomplete or count_of(rows) > ROWS_MAX
        )
        return Ledger(
            rows={} if is_incomplete else rows,
            is_incomplete=is_incomplete,
            bad_send_backs=self.bad_send_backs + other.bad_send_backs,
        )

    def table(self, name: str) -> dict[str, Ints]:
        """Return the columns of the table *name*."""
        pieces = self.rows.get(name) or [
            tuple(np.zeros(0, dtype=np.int64) for _ in COLUMNS[name])
        ]
        columns = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return dict(zip(COLUMNS[name], columns, strict=True))


def count_of(rows: Rows) -> int:
    """Return the number of *rows*."""
    return sum(len(piece[0]) for pieces in rows.values() for piece in pieces)


def entries_of(
    data: bytes,
    columns: RecordColumns,
    kept: Ints,
    *,
    base: int,
    options: SurveyOptions,
) -> Ledger:
    """Return the ledger of the *kept* records of a window of the file at *base*.

    *data* is the window's.
    """
    chosen = _chosen(columns, kept)
    if not len(chosen):
        return Ledger()
    split = columns.split.only(chosen)
    values = places_once(split, _NAMES, len(chosen))
    if values is None or not _is_unambiguous(columns.topics, split):
        return Ledger(is_incomplete=True)
    records = SystemTopicRecords(columns, chosen, (split.text, values), base=base)
    ops = _ops(data, records)
    is_old = records.is_prepared & ~records.is_in(HALF_TOPIC)  # as before 4.3
    is_lost = records.is_delayed & (records.real_queue == NOTHING)
    if ops is None or is_old.any() or is_lost.any():
        return Ledger(is_incomplete=True)
    rows = {
        "halves": _halves(records),
        "commits": _commits(records, options.min_offset),
        "ops": ops,
        "delayed": _delayed_rows(records),
        "delivered": _delivered_rows(records),
    }
    return Ledger(
        rows={name: [made] for name, made in rows.items() if len(made[0])},
        bad_send_backs=_bad_send_backs(records),
    )


def _chosen(columns: RecordColumns, kept: Ints) -> Ints:
    """Return the indices of *kept* records that the ledger needs."""
    is_chosen = is_half_or_commit(columns.fixed["system_flags"] & TRANSACTION_BITS)
    is_chosen[columns.split.record[columns.split.having(_REAL_TOPIC)]] = True
    names = [name.decode("utf-8", "replace") for name in columns.topics.names]
    are_own = np.array([is_own_topic(name) for name in names], dtype=np.bool_)
    is_chosen |= are_own[columns.topics.numbers]
    found: Ints = kept[is_chosen[kept]]
    return found


def _is_unambiguous(topics: Topics, split: Properties) -> bool:
    """Return whether *topics* and properties have one reading only."""
    if not split.is_regular or len(split.broken):
        return False
    try:
        b"".join(topics.names).decode()
    except UnicodeDecodeError:
        return False
    return split.is_utf8()


class SystemTopicRecords:
    """Columns of the ledger's records of a window; texts are hashes."""

    def __init__(
        self,
        columns: RecordColumns,
        chosen: Ints,
        properties: tuple[bytes, Places],
        *,
        base: int,
    ) -> None:
        """Take the text of *properties* and the places of the values of _NAMES."""
        self._columns = columns
        self._text, self._values = properties
        self.chosen = chosen
        self.offset: Ints = columns.fixed["position"][chosen] + base
        self.names = [name.decode() for name in columns.topics.names]
        self._numbers = columns.topics.numbers[chosen]
        self.topic: Ints = _hashes_of(columns.topics.names)[self._numbers]
        self.real_topic = self.hashed(_REAL_TOPIC)
        self.unique_key = self.hashed(_UNIQUE_KEY)
        self.origin = self.hashed(_ORIGIN)
        self.real_queue = np.full(len(chosen), NOTHING)
        index, values = self.places(_REAL_QUEUE)
        self.real_queue[index] = queue_numbers(self._text, values)
        transaction_type = self.number("system_flags") & TRANSACTION_BITS
        self.is_prepared: Bools = is_half(transaction_type)
        self.is_commit: Bools = is_commit(transaction_type)
        half = self.real_topic == _hash_of(HALF_TOPIC)
        has_real = self.real_topic != NOTHING
        self.is_delayed: Bools = self.is_in(SCHEDULE_TOPIC) & has_real & ~half

    def number(self, name: str) -> Ints:
        """Return a fixed-size field of each record."""
        return self._columns.found.numbers[name][self.chosen].astype(np.int64)

    def body_size(self) -> Ints:
        """Return the body size of each record, in bytes."""
        return self._columns.found.places["body"][1][self.chosen]

    def bodies(self, which: Ints) -> Places:
        """Return the places of the bodies of *which* records."""
        begins, sizes = self._columns.found.places["body"]
        return begins[self.chosen[which]], sizes[self.chosen[which]]

    def due_ms(self) -> Ints:
        """Return the due time of each delayed message."""
        return self._columns.tags_codes[self.chosen]

    def is_in(self, *topics: str) -> Bools:
        """Return the mask of records in one of *topics*."""
        return np.array([name in topics for name in self.names])[self._numbers]

    def begins(self, prefix: str) -> Bools:
        """Return the mask of records with a topic that begins with *prefix*."""
        return np.array([name.startswith(prefix) for name in self.names])[self._numbers]

    def places(self, name: bytes) -> tuple[Ints, Places]:
        """Return the records with a non-empty property *name*, and its places."""
        row = _NAMES.index(name)
        begins, sizes = (column[row] for column in self._values)
        index = np.flatnonzero(sizes > 0)
        return index, (begins[index], sizes[index])

    def has(self, name: bytes) -> Bools:
        """Return the mask of records with the property *name*."""
        found: Bools = self._values[1][_NAMES.index(name)] > 0
        return found

    def hashed(self, name: bytes) -> Ints:
        """Return the hash of the property *name* of each record."""
        index, (begins, sizes) = self.places(name)
        found = np.full(len(self.chosen), NOTHING)
        found[index] = text_hashes(self._text, (begins, sizes))
        return found

    def has_id(self, name: bytes) -> Bools:
        """Return the mask of records with a message id in the property *name*."""
        index, values = self.places(name)
        found = np.zeros(len(self.chosen), dtype=np.bool_)
        found[index] = are_ids(self._text, values)
        return found


def _hashes_of(texts: Sequence[bytes]) -> Ints:
    """Return the hash of each of *texts*."""
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    begins = WORD + np.cumsum(sizes) - sizes
    return text_hashes(b"".join([bytes(WORD), *texts]), (begins, sizes))


@lru_cache
def _hash_of(topic: str) -> int:
    return int(_hashes_of([topic.encode()])[0])


def _halves(records: SystemTopicRecords) -> tuple[Ints, ...]:
    which = records.is_in(HALF_TOPIC)
    message = _message_hash(records, records.real_topic, records.real_queue)
    columns = (
        records.offset,
        records.number("queue_id"),
        records.number("queue_offset"),
        records.number("stored_at_ms"),
        message,
        records.unique_key,
    )
    return tuple(column[which] for column in columns)


def _commits(records: SystemTopicRecords, min_offset: int) -> tuple[Ints, ...]:
    half_at = records.number("prepared_transaction_offset")
    which = records.is_commit & (half_at > 0) & (half_at >= min_offset)
    waits = records.is_in(*LATER_TOPICS)
    topic = np.where(waits, records.real_topic, records.topic)
    queue = np.where(waits, records.real_queue, records.number("queue_id"))
    columns = (
        records.offset,
        half_at,
        _message_hash(records, topic, queue),
        records.unique_key,
    )
    return tuple(column[which] for column in columns)


def _message_hash(records: SystemTopicRecords, topic: Ints, queue: Ints) -> Ints:
    """Return the hash that a half message and its commit share."""
    return hash_of_longs(topic, queue, records.number("body_crc"), records.body_size())


def _ops(data: bytes, records: SystemTopicRecords) -> tuple[Ints, ...] | None:
    """Return the half messages that op messages name; None if one is unreadable."""
    which = np.flatnonzero(records.is_in(OP_TOPIC))
    begins, sizes = records.bodies(which)
    if (sizes > OP_SIZE_MAX).any():
        return None
    listed = numbers_listed(data, (begins, sizes))
    if listed is None:
        return None
    index, named = which[listed[0]], listed[1]
    return records.offset[index], records.number("queue_id")[index], named


def _delayed_rows(records: SystemTopicRecords) -> tuple[Ints, ...]:
    which = np.flatnonzero(records.is_delayed)
    columns = (
        records.offset,
        records.number("queue_id"),
        records.number("queue_offset"),
        records.due_ms(),
    )
    message = _delayed_hash(records, which, records.real_topic, records.real_queue)
    return (message, *(column[which] for column in columns))


def _delivered_rows(records: SystemTopicRecords) -> tuple[Ints, ...]:
    queue = records.number("queue_id")
    is_there = (records.topic == records.real_topic) & (queue == records.real_queue)
    is_there &= (records.real_queue != NOTHING) & ~records.is_in(SCHEDULE_TOPIC)
    which = np.flatnonzero(is_there)
    message = _delayed_hash(records, which, records.topic, queue)
    return (message, records.offset[which], records.number("stored_at_ms")[which])


def _delayed_hash(
    records: SystemTopicRecords, which: Ints, topic: Ints, queue: Ints
) -> Ints:
    """Return the hash that a delayed message shares with its delivery."""
    columns = (
        topic,
        queue,
        records.unique_key,
        records.origin,
        records.number("reconsume_times"),
        records.number("born_at_ms"),
        records.number("body_crc"),
        records.body_size(),
    )
    return hash_of_longs(*(column[which] for column in columns))


def _bad_send_backs(records: SystemTopicRecords) -> int:
    """Return the number of retries and dead letters that may not name their origin."""
    names_topic, names_id = records.has(_RETRY_TOPIC), records.has(_ORIGIN)
    times = records.number("reconsume_times")
    back = records.begins(RETRY_PREFIX) & (records.topic == records.real_topic)
    back &= ~records.has(_POPPED_AT) & (names_topic | names_id)
    if back.any():
        back &= lacks_origin(names_topic, records.has_id(_ORIGIN), times)
    dead = records.begins(DLQ_PREFIX) & lacks_topic(names_topic, times)
    return int(np.count_nonzero(back | dead))
