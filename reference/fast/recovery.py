"""
The vectorised recovery steps, and the store sizes from which they are used.

numpy takes 0.1 s to load, so the modules that need it are imported at first use.
"""

from __future__ import annotations

from reference.core.store.recovery.queue_end import LeadingUnits
from reference.core.store.recovery.recover import StoreParts
from reference.core.store.recovery.scan import BulkScanner
from spec.derive.numpy_dtype import leading_fields
from spec.store.consume_queue import UNIT_SIZE, unit_layout

RECORDS_FROM = 4096
"""Records that core reads first: fewer do not pay for loading numpy."""
UNITS_FROM = 16_384
UNITS_PROBED = 1024
RUN_FROM = 32
"""Below this count, grouping records costs more than it saves."""
_SIZE = {field.name: field for field in leading_fields(unit_layout)}["size"]


class FastRecovery:
    """Implements `BulkRecovery` with numpy."""

    def __init__(
        self, *, records_from: int = RECORDS_FROM, units_from: int = UNITS_FROM
    ) -> None:
        self._records_from = records_from
        """Records that core reads before numpy does."""
        self._units_from = units_from
        """Units that a file has at least if numpy reads it."""

    def scanner(self, parts: StoreParts, *, dispatches: bool) -> BulkScanner | None:
        """Return the scanner of one recovery, which puts records if it *dispatches*.

        None leaves all to core: an extension unit needs the record's bit map.
        """
        from reference.fast.bulk_scan import RecordScanner

        if dispatches and parts.options.extension_file_size > 0:
            return None
        run_from = min(RUN_FROM, self._records_from)
        return RecordScanner(
            parts,
            dispatches=dispatches,
            records_from=self._records_from,
            run_from=run_from,
        )

    def leading_units(self, data: memoryview, log_end: int) -> LeadingUnits | None:
        """Return the valid units of a file of many; None leaves it to core."""
        if not self._has_many_units(data):
            return None
        from reference.fast.bulk_scan import leading_units

        return leading_units(data, log_end)

    def _has_many_units(self, data: memoryview) -> bool:
        """Return whether numpy reads this file, by the sizes of two units.

        The first probe spares a file of few units the page faults of its empty rest.
        """
        numbers = (min(UNITS_PROBED, self._units_from), self._units_from)
        sizes_at = (number * UNIT_SIZE + _SIZE.offset for number in numbers)
        return self._units_from == 0 or all(
            any(data[at : at + _SIZE.size]) for at in sizes_at
        )
