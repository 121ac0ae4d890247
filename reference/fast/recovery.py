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
    from reference.fast.bulk_scan import RecordScanner

    if dispatches and parts.options.extension_file_size > 0:
        return None
    run_from = min(RUN_FROM, records_from)
    return RecordScanner(
        parts, dispatches=dispatches, records_from=records_from, run_from=run_from
    )
