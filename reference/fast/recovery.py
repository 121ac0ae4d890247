"""
The vectorised scan of recovery, and the store sizes from which it is used.

numpy takes 0.1 s to load, so the modules that need it are imported at first use.
"""

from __future__ import annotations

from reference.core.store.recovery.recover import StoreParts
from reference.core.store.recovery.scan import BulkScanner

RECORDS_FROM = 4096
"""Records that core reads first: fewer do not pay for loading numpy."""
RUN_FROM = 32
"""Below this count, grouping records costs more than it saves."""


def bulk_scan(
    parts: StoreParts, *, dispatches: bool, records_from: int = RECORDS_FROM
) -> BulkScanner | None:
    """Return the scanner of one recovery, which puts records if it *dispatches*.

    None leaves all to core: an extension unit needs the record's bit map.
    """
    if dispatches and parts.options.extension_file_size > 0:
        return None
    left_to_core = records_from
    scanner: BulkScanner | None = None

    def scan(base: int, data: memoryview, position: int) -> int:
        nonlocal left_to_core, scanner
        if left_to_core:
            left_to_core -= 1
            return position
        if scanner is None:
            from reference.fast.record_scanner import RecordScanner

            run_from = min(RUN_FROM, records_from)
            scanner = RecordScanner(parts, dispatches=dispatches, run_from=run_from)
        return scanner(base, data, position)

    return scan
