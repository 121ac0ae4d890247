"""
Findings about rows of the ledger, from their records, which are read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from spark_checks.columns.record_scan import ReadAt
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord, record_at
from spark_checks.store_files import Store, reading

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


@contextmanager
def ledger_records(store: Store) -> Iterator[LedgerRecords]:
    """Yield the records of *store*, and close its files at the end."""
    with ExitStack() as opened:
        yield LedgerRecords(store, opened)


def record_finding(
    name: str,
    record: QueuedRecord,
    *,
    expected: str,
    found: str,
    text: str = "",
    message: str | None = None,
) -> Finding:
    """Return a finding about *record*; *text* ends a sentence about it."""
    place = f"{record.topic}, queue {record.queue_id}, offset {record.queue_offset}"
    return file_finding(
        name,
        record.file,
        record.place,
        expected=expected,
        found=found,
        message=message or f"The record at {record.position} ({place}) {text}",
    )
