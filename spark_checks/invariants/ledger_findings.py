"""
Findings about rows of the ledger, from their records, which are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from spark_checks.columns.by_key import NOTHING
from spark_checks.columns.record_scan import ReadAt
from spark_checks.counting_rules import LATER_TOPICS, OP_SIZE_MAX, is_op_number
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord, record_at
from spark_checks.invariants.transactions import CHECKS_END_MS
from spark_checks.store_files import Store, reading
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import HALF_TOPIC

Row = Mapping[str, int]
"""Values of a row by column."""


class LedgerRecords:
    """Records of the ledger's rows, each file opened once."""

    def __init__(self, store: Store, opened: ExitStack) -> None:
        self.store = store
        self._opened = opened
        self._readers: dict[str, ReadAt] = {}

    def at(self, offset: int) -> QueuedRecord:
        """Return the record at a commit-log *offset* of the ledger."""
        file = self.store.log_file_at(offset)
        assert file is not None  # the survey has read it there
        if file.path not in self._readers:
            read_at = self._opened.enter_context(reading(self.store.url, file.path))
            self._readers[file.path] = read_at
        return record_at(self._readers[file.path], file, offset - (file.base or 0))

    def finding(self, name: str, row: Row) -> Finding:
        """Return the finding of the invariant *name* about *row*."""
        texts, record = LEDGER_TEXTS[name], self.at(row["offset"])
        values = {**row, "record": record}
        found = (
            texts.found.format(**values)
            if isinstance(texts.found, str)
            else texts.found(self, record, row)
        )
        return file_finding(
            name,
            record.file,
            record.place,
            expected=texts.expected.format(**values),
            found=found,
            message=texts.message.format(**values, found=found),
        )


@contextmanager
def ledger_records(store: Store) -> Iterator[LedgerRecords]:
    """Yield the records of *store*, and close its files at the end."""
    with ExitStack() as opened:
        yield LedgerRecords(store, opened)


@dataclass(frozen=True, slots=True)
class LedgerTexts:
    """Texts of a finding, as formats of the row's columns and its record."""

    expected: str
    found: str | Callable[[LedgerRecords, QueuedRecord, Row], str]
    message: str


def _number_of_op(_records: LedgerRecords, record: QueuedRecord, row: Row) -> str:
    """Return the queue offset that an op message names, or what is not a number."""
    if row["queue_offset"] != NOTHING:
        return str(row["queue_offset"])
    pieces = record.body[:OP_SIZE_MAX].removesuffix(b",").split(b",")
    return next(one for one in pieces if not is_op_number(one)).decode("latin-1")


def _half_of(records: LedgerRecords, record: QueuedRecord, row: Row) -> str:
    """Return the difference between a commit and its half message."""
    if not row["has_half"]:
        return "no half message"
    half = records.at(row["half_at"])
    topic, queue = half.real_place if half.topic == HALF_TOPIC else half.own_place
    waits = record.topic in LATER_TOPICS
    if (record.real_place if waits else record.own_place) == (topic, queue):
        return "another body or key"
    return f"a half message of {topic}, queue {queue}"


def _decision(_records: LedgerRecords, _record: QueuedRecord, row: Row) -> str:
    is_again = row["rank"] > 1
    return f"commit {row['rank']}" if is_again else "a commit after the op message"


def _origin(_records: LedgerRecords, record: QueuedRecord, _row: Row) -> str:
    topic = record.properties.get(Property.RETRY_TOPIC, "no topic")
    origin = record.properties.get(Property.ORIGIN_MESSAGE_ID, "no id")
    return f"{topic}, {origin}, {record.reconsume_times} deliveries"


_RECORD = (
    "The record at {record.position} ({record.topic}, queue {record.queue_id}, offset"
    " {record.queue_offset})"
)
LEDGER_TEXTS: Mapping[str, LedgerTexts] = {
    "INV-TXN-001": LedgerTexts(
        "queue offsets of half messages",
        _number_of_op,
        "The op message at {record.position} names half message {found} of queue"
        " {record.queue_id}, which is missing.",
    ),
    "INV-TXN-002": LedgerTexts(
        "the half message at commit-log offset {half_at}, of this topic and queue",
        _half_of,
        f"{_RECORD} is a commit, and differs from its half message.",
    ),
    "INV-TXN-003": LedgerTexts(
        "one commit, before the op message",
        _decision,
        f"{_RECORD} is a commit of a half message that was decided before.",
    ),
    "INV-TXN-004": LedgerTexts(
        f"an op message within {CHECKS_END_MS} ms",
        "half messages without one: {halves}",
        "Overdue and undecided half messages: {halves}. The first is at"
        " {record.position} (offset {record.queue_offset}).",
    ),
    "INV-DELAY-001": LedgerTexts(
        "a message in {record.real_place[0]}, queue {record.real_place[1]}",
        "none",
        "The delayed message at {record.position} (level {level}, offset"
        " {record.queue_offset}) was due and its level is delivered up to {level_done},"
        " but the message is missing from queue {record.real_place[1]} of"
        " {record.real_place[0]}.",
    ),
    "INV-DELAY-002": LedgerTexts(
        "{waited} deliveries",
        "delivery {rank}",
        f"{_RECORD} was delayed, and is delivered again.",
    ),
    "INV-DELAY-003": LedgerTexts(
        "stored at {due_ms} or later",
        "stored at {stored_at_ms}",
        f"{_RECORD} was delayed, and is delivered before its due time.",
    ),
    "INV-RETRY-001": LedgerTexts(
        "RETRY_TOPIC, an id in ORIGIN_MESSAGE_ID, and a delivery",
        _origin,
        f"{_RECORD} was sent back, and does not name its origin.",
    ),
    "INV-RETRY-002": LedgerTexts(
        "RETRY_TOPIC",
        "none",
        f"{_RECORD} is a dead letter without its original topic.",
    ),
}
"""Texts of the invariants whose rows the ledger has."""
