"""
The scan of recovery: reads the commit log record by record up to its physical end.

A scan goes to the next file at a blank and ends before the first bytes that are
neither record nor blank. Sound records behind that place are truncated too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import (
    ArrayTooLarge,
    Blank,
    InvalidRecord,
    ScannedRecord,
    read_record,
)
from reference.core.store.recovery.rules import RecoveryRules


class ScanResult(NamedTuple):
    """The place and the reason of a scan's end."""

    physical_end: int
    """Commit-log offset of the next message."""
    last_file: int
    """Index of the file in which the scan ended."""
    stopped_by: InvalidRecord | ArrayTooLarge | None
    """None where the last file ends with its blank."""


BulkScanner = Callable[[int, memoryview, int], int]
"""Reads many sound records in one step, and dispatches them if recovery does.

The arguments are the commit-log offset of a file, the file, and a position in it. The
result is the position behind the records; the same where `read_record` has to read.
"""


def scan_log(
    bases: Sequence[int],
    first: int,
    open_file: Callable[[int], memoryview],
    rules: RecoveryRules,
    *,
    check_crc: bool,
    on_record: Callable[[int, ScannedRecord], None],
    bulk_scanner: BulkScanner | None = None,
) -> ScanResult:
    """Read the files from index *first* on; call *on_record* with offset and record.

    Records that *bulk_scanner* reads are not passed to *on_record*.
    4.6.0 org.apache.rocketmq.store.CommitLog#recoverNormally: files are read in the
    order of their names, also across missing files.
    """
    base = bases[first]
    for number in range(first, len(bases)):
        base, at = bases[number], 0
        data = open_file(base)
        while True:
            if bulk_scanner is not None:
                at = bulk_scanner(base, data, at)
            found = read_record(data, at, rules, check_crc=check_crc)
            if not isinstance(found, ScannedRecord):
                break
            on_record(base + at, found)
            at += found.size
        if not isinstance(found, Blank):
            return ScanResult(base + at, number, found)
    # Behind the last file's blank nothing can follow, so the log ends before it.
    return ScanResult(base + at, len(bases) - 1, None)
