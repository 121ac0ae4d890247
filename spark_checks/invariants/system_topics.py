"""
Findings in system topics by the survey's ledger: transactions, delays, send-backs.

Rules match the rows of the ledger (:mod:`spark_checks.checks.match_ledger`). The
records of rows that break one are read again, for the text of their finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields

from columns.numbers.by_key import NOTHING, Table
from columns.scan.log_file import ReadAt
from spark_checks.checks import match_ledger
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.counting_rules import LATER_TOPICS, OP_SIZE_MAX, is_op_number
from spark_checks.file_systems import reading
from spark_checks.findings import INVARIANTS, LISTED_MAX, Finding, Severity
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord, record_at
from spark_checks.invariants.transactions import CHECKS_END_MS
from spark_checks.store_files import Store
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import HALF_TOPICS

LEDGER_INVARIANTS = [
    name
    for name in INVARIANTS
    if name.startswith(("INV-TXN-", "INV-DELAY-", "INV-RETRY-"))
]
"""Invariants whose rows the ledger has."""
Row = Mapping[str, int]
"""Values of a row by column."""


def system_topic_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings in system topics, and in messages made from them."""
    store, ledger = surveyed.store, surveyed.ledger
    if not ledger.rows and not ledger.is_incomplete:
        return []
    names = [name for name in LEDGER_INVARIANTS if name in surveyed.requested]
    bases = [file.base for file in store.commit_log]
    if ledger.is_incomplete:
        surveyed.progress("matching records of system topics")
        listed = match_ledger.listed_by_tasks(surveyed, names, bases)
    else:
        found = match_ledger.matched(ledger, surveyed.situation)
        listed = match_ledger.listed_rows(found, names, bases)
    if not listed:
        return []
    surveyed.progress("reading records of system topics")
    return (
        surveyed.context.parallelize(listed.items())
        .mapPartitions(lambda one: findings_of(store, one))
        .collect()
    )


def findings_of(
    store: Store, listed: Iterable[tuple[tuple[str, int], tuple[int, Table]]]
) -> Iterator[Finding]:
    """Yield the findings about *listed* rows of *store*."""
    with ExitStack() as opened:
        records = LedgerRecords(store, opened)
        for (name, _), (count, rows) in listed:
            values = zip(*(column.tolist() for column in rows.values()), strict=True)
            each = (dict(zip(rows, one, strict=True)) for one in values)
            found = [records.finding(name, row) for row in each]
            yield from found[:-1]
            yield found[-1].with_more(max(count - LISTED_MAX, 0))


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
        return record_at(self._readers[file.path], file, offset - file.base)

    def finding(self, name: str, row: Row) -> Finding:
        """Return the finding of the invariant *name* about *row*."""
        record = self.at(row["offset"])
        real_topic, real_queue = record.real_place
        values: dict[str, object] = {
            **row,
            **{field.name: getattr(record, field.name) for field in fields(record)},
            "position": record.place[1][0],
            "real_topic": real_topic,
            "real_queue": real_queue,
            "checks_end_ms": CHECKS_END_MS,
        }
        values.pop("message", None)  # a hash
        found = self._found(name, record, row)
        if found is not None:
            values["found"] = found
        # Without its half message, as behind damage, a commit may still be right.
        is_alone = name == "INV-TXN-002" and not row["has_half"]
        severity = Severity.WARNING if is_alone else None
        return file_finding(name, *record.place, severity, **values)

    def _found(self, name: str, record: QueuedRecord, row: Row) -> str | None:
        """Return the value that breaks an invariant, if more than the row has it."""
        if name == "INV-TXN-001":  # the number in an op message, or text without one
            if row["queue_offset"] != NOTHING:
                return str(row["queue_offset"])
            pieces = record.body[:OP_SIZE_MAX].removesuffix(b",").split(b",")
            return next(one for one in pieces if not is_op_number(one)).decode(
                "latin-1"
            )
        if name == "INV-TXN-002":
            return self._difference_from_half(record, row)
        if name == "INV-TXN-003":
            is_again = row["rank"] > 1
            return (
                f"commit {row['rank']}" if is_again else "a commit after the op message"
            )
        if name == "INV-RETRY-001":
            topic = record.properties.get(Property.RETRY_TOPIC, "no topic")
            origin = record.properties.get(Property.ORIGIN_MESSAGE_ID, "no id")
            return f"{topic}, {origin}, {record.reconsume_times} deliveries"
        return None

    def _difference_from_half(self, record: QueuedRecord, row: Row) -> str:
        """Return the difference between a commit and its half message."""
        if not row["has_half"]:
            return "no half message"
        half = self.at(row["half_at"])
        topic, queue = half.real_place if half.topic in HALF_TOPICS else half.own_place
        waits = record.topic in LATER_TOPICS
        if (record.real_place if waits else record.own_place) == (topic, queue):
            return "another body or key"
        return f"a half message of {topic}, queue {queue}"
