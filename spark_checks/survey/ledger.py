"""
Ledger of system topics: a few numbers for each of their records.

Half messages, commits, op messages, delayed and delivered messages each have a table of
numbers; texts become hashes. Units of delayed messages add their due times. Rules
match the tables (:mod:`spark_checks.checks.match_ledger`), and only records that
break one are read again. A table of records that are wrong by themselves has the id of
its invariant.

Every table has the column ``offset``, a commit-log offset. ``message``, ``place`` and
``key`` are keys to match. An unreadable op message names the queue offset NOTHING.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, Ints
from columns.numbers.by_key import NOTHING, Table, joined
from columns.numbers.long_hashes import hash_of_longs
from spark_checks.counting_rules import LATER_TOPICS, OP_SIZE_MAX, is_commit, is_half
from spark_checks.survey.system_topic_records import hashes_of, numbers_listed
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    HALF_TOPICS,
    OP_TOPIC,
    ROCKSDB_HALF_TOPIC,
    SCHEDULE_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
)

ROWS_MAX: Final = 2_000_000
"""Largest number of rows that the driver holds; beyond it, Spark tasks match them."""
_NUMBER_BITS = 40
"""Bits of a queue offset in a key; the others are for the queue id."""
RECORDS = "records"
"""Table of the records of one range, before each kind has its own."""
Rows = dict[str, list[Table]]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Tables of a store, or of a part of one."""

    rows: Rows = field(default_factory=dict)
    """Row blocks of each table, by its name."""
    is_incomplete: bool = False
    """Whether rows were dropped, because they were too many."""

    def plus(self, other: Ledger) -> Ledger:
        """Return the ledger of both parts."""
        rows = {
            name: [*self.rows.get(name, ()), *other.rows.get(name, ())]
            for name in {**self.rows, **other.rows}
        }
        is_incomplete = self.is_incomplete or other.is_incomplete
        return Ledger(rows=rows, is_incomplete=is_incomplete)

    def bounded(self) -> Ledger:
        """Return the ledger without its rows if they are more than ROWS_MAX."""
        count = sum(len(one["offset"]) for some in self.rows.values() for one in some)
        is_incomplete = self.is_incomplete or count > ROWS_MAX
        return Ledger(is_incomplete=True) if is_incomplete else self

    def table(self, name: str) -> Table:
        """Return the table *name*."""
        return joined(self.rows.get(name, ()))


def rows_of(records: Table, data: bytes) -> Ledger:
    """Return the ledger of the *records* of the window *data*, still in one table.

    Only op messages need the window.
    """
    ops = records.select("offset", "queue_id", "body_begin", "body_size")
    ops = ops.where(is_in(records, OP_TOPIC))
    begins, sizes = ops["body_begin"], np.minimum(ops["body_size"], OP_SIZE_MAX)
    index, named = numbers_listed(data, (begins, sizes))
    ops = ops.select("offset", "queue_id").where(index)
    place = place_of(ops["queue_id"], named)
    ops = ops.with_columns(queue_offset=named, place=place)
    return ledger_of({RECORDS: records, "ops": ops})


def entries_of(ledger: Ledger, min_offset: int) -> Ledger:
    """Return *ledger* with a table for each kind of its records."""
    records = ledger.table(RECORDS)
    made = {
        "halves": _halves(records),
        "expired": records.select("offset", "key").where(
            is_in(records, TRANS_CHECK_MAX_TIME_TOPIC)
        ),
        "commits": _commits(records, min_offset),
        "delayed": _delayed(records),
        "delivered": _delivered(records),
        "INV-RETRY-001": _without_origin(records),
        "INV-RETRY-002": _without_topic(records),
    }
    rest = {name: ledger.table(name) for name in ledger.rows if name != RECORDS}
    return ledger_of({**rest, **made})


def is_in(records: Table, *topics: str) -> Bools:
    """Return the mask of *records* in one of *topics*."""
    masks = [records["topic"] == _hash_of(topic) for topic in topics]
    found: Bools = np.logical_or.reduce(masks)
    return found


def ledger_of(tables: Mapping[str, Table]) -> Ledger:
    """Return the ledger of *tables* of one block each."""
    return Ledger(
        rows={name: [table] for name, table in tables.items() if len(table["offset"])}
    )


def due_times(units: npt.NDArray[Any], min_offset: int) -> Ledger:
    """Return the due times in consume-queue *units* of delayed messages."""
    offsets = units["commit_log_offset"].astype(np.int64)
    due_ms = units["tags_code"].astype(np.int64)
    table = Table(offset=offsets, due_ms=due_ms)
    return ledger_of({"due": table.where(offsets >= min_offset)})


def place_of(queue_ids: Ints, queue_offsets: Ints) -> Ints:
    """Return a key of queue offsets of queues: a hash if one is large.

    Keys that rise with the offset take a third of the time to sort.
    """
    fit = (queue_ids >= 0) & (queue_offsets >= 0)
    fit &= queue_ids < 1 << 63 - _NUMBER_BITS
    fit &= queue_offsets < 1 << _NUMBER_BITS
    hashes = hash_of_longs(queue_ids, queue_offsets)
    return np.where(fit, queue_ids << _NUMBER_BITS | queue_offsets, hashes)


def _halves(records: Table) -> Table:
    """Return the half messages; those before 4.3 are in their real topic.

    Those in ROCKSDB_HALF_TOPIC have no queue and no place: a database counts their
    checks, and no op message of OP_TOPIC names them.
    """
    which = is_in(records, *HALF_TOPICS) | is_half(records["transaction_type"])
    rows = records.where(which)
    queue_ids, queue_offsets = rows["queue_id"], rows["queue_offset"]
    is_in_rocksdb = is_in(rows, ROCKSDB_HALF_TOPIC)
    place = place_of(queue_ids, queue_offsets)
    return rows.select("offset", "queue_offset", "stored_at_ms", "key").with_columns(
        queue_id=np.where(is_in_rocksdb, NOTHING, queue_ids),
        place=np.where(is_in_rocksdb, NOTHING, place),
        message=_half_message(rows, is_in(rows, *HALF_TOPICS)),
        is_waiting=is_in(rows, HALF_TOPIC).astype(np.int64),
    )


def _commits(records: Table, min_offset: int) -> Table:
    """Return the commits whose half message is still in the log."""
    half_at = records["prepared_transaction_offset"]
    which = (
        is_commit(records["transaction_type"]) & (half_at > 0) & (half_at >= min_offset)
    )
    rows = records.where(which)
    return rows.select("offset", "key").with_columns(
        half_at=half_at[which],
        message=_half_message(rows, is_in(records, *LATER_TOPICS)[which]),
    )


def _half_message(rows: Table, is_waiting: Bools) -> Ints:
    """Return the hash that a half message and its commit share.

    One that waits in another topic has its real topic in its properties.
    """
    topic = np.where(is_waiting, rows["real_topic"], rows["topic"])
    queue = np.where(is_waiting, rows["real_queue"], rows["queue_id"])
    return hash_of_longs(topic, queue, rows["body_crc"], rows["body_size"])


def _delayed(records: Table) -> Table:
    """Return the delayed messages; those that are half messages are not delivered."""
    real_topic = records["real_topic"]
    is_message = ~np.isin(real_topic, [NOTHING, *map(_hash_of, HALF_TOPICS)])
    rows = records.where(is_in(records, SCHEDULE_TOPIC) & is_message)
    message = _delayed_message(rows, rows["real_topic"], rows["real_queue"])
    return rows.select("offset", "queue_id", "queue_offset").with_columns(
        message=message
    )


def _delivered(records: Table) -> Table:
    """Return the messages in their real topic and queue."""
    is_there = records["topic"] == records["real_topic"]
    is_there &= records["queue_id"] == records["real_queue"]
    is_there &= records["real_queue"] != NOTHING
    rows = records.where(is_there & ~is_in(records, SCHEDULE_TOPIC))
    message = _delayed_message(rows, rows["topic"], rows["queue_id"])
    return rows.select("offset", "stored_at_ms").with_columns(message=message)


def _delayed_message(rows: Table, topic: Ints, queue: Ints) -> Ints:
    """Return the hash that a delayed message shares with its delivery."""
    names = ("key", "origin", "reconsume_times", "born_at_ms", "body_crc", "body_size")
    return hash_of_longs(topic, queue, *(rows[name] for name in names))


def _without_origin(records: Table) -> Table:
    """Return the retries that do not name topic, first message id and deliveries.

    A producer may send to such a topic directly, without any of the names.
    """
    names_topic, names_id = records["names_topic"] == 1, records["origin"] != NOTHING
    which = (records["is_retry"] == 1) & (records["topic"] == records["real_topic"])
    which &= (records["is_popped"] == 0) & (names_topic | names_id)
    is_counted = (records["has_id"] == 1) & (records["reconsume_times"] >= 1)
    return records.select("offset").where(which & ~(names_topic & is_counted))


def _without_topic(records: Table) -> Table:
    """Return the dead letters that were delivered and do not name their topic."""
    which = (records["names_topic"] == 0) & (records["reconsume_times"] > 0)
    return records.select("offset").where(which & (records["is_dead_letter"] == 1))


@lru_cache
def _hash_of(topic: str) -> int:
    return int(hashes_of([topic])[0])
