"""
Findings about rows of the ledger, from their records, which are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields

from spark_checks.columns.by_key import NOTHING
from spark_checks.columns.record_scan import ReadAt
from spark_checks.counting_rules import LATER_TOPICS, OP_SIZE_MAX, is_op_number
from spark_checks.findings import INVARIANTS, Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord, record_at
from spark_checks.invariants.transactions import CHECKS_END_MS
from spark_checks.store_files import Store, reading
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import HALF_TOPIC

LEDGER_INVARIANTS = [
    name
    for name in INVARIANTS
    if name.startswith(("INV-TXN-", "INV-DELAY-", "INV-RETRY-"))
]
"""Invariants whose rows the ledger has."""
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
        invariant, record = INVARIANTS[name], self.at(row["offset"])
        real_topic, real_queue = record.real_place
        values = {
            **row,
            **{field.name: getattr(record, field.name) for field in fields(record)},
            "real_topic": real_topic,
            "real_queue": real_queue,
            "checks_end_ms": CHECKS_END_MS,
        }
        found = (
            _FOUND[name](self, record, row)
            if name in _FOUND
            else invariant.found.format(**values)
        )
        return file_finding(
            name,
            record.file,
            record.place,
            expected=invariant.expected.format(**values),
            found=found,
            message=invariant.message.format(**{**values, "found": found}),
        )


@contextmanager
def ledger_records(store: Store) -> Iterator[LedgerRecords]:
    """Yield the records of *store*, and close its files at the end."""
    with ExitStack() as opened:
        yield LedgerRecords(store, opened)


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


_FOUND: Mapping[str, Callable[[LedgerRecords, QueuedRecord, Row], str]] = {
    "INV-TXN-001": _number_of_op,
    "INV-TXN-002": _half_of,
    "INV-TXN-003": _decision,
    "INV-RETRY-001": _origin,
}
"""Text of the value that breaks an invariant, where it needs more than the row."""
