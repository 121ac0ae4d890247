"""
Units that a pull skips, because a unit before them points outside of the commit log.

4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage. Where the log has no
bytes for a unit, a pull goes on at the next unit that points into a later file.
"""

from __future__ import annotations

from reference.core.recovery_forecast.log_state import LogState
from reference.core.store.get_message import SCANNED_SIZE_MIN
from reference.core.store.recovery.queue_end import Unit
from spec.integers import INT64_MAX
from spec.store.consume_queue import UNIT_SIZE

SCANNED_MAX = SCANNED_SIZE_MIN // UNIT_SIZE
"""Units that one pull examines at most."""


class SkippedUnits:
    """Examines the units of one queue in their order, as a pull does."""

    def __init__(self, log: LogState, queue_file_size: int) -> None:
        self._log = log
        self._units_per_file = queue_file_size // UNIT_SIZE
        self._skip_before = self._end = 0
        """A pull skips units before queue offset `_end` that point before an offset."""

    def skips(self, index: int, unit: Unit) -> bool:
        """Return whether a pull from a wrong unit before *unit* skips it.

        A skipped unit that is wrong itself does not count.
        """
        place, size, _ = unit
        has_bytes = self._log.has_bytes(place, size)
        if index < self._end and place < self._skip_before:
            return has_bytes
        if has_bytes:
            self._end = 0
            return False
        self._skip_before = _next_file(place, self._log.file_size)
        file_end = index - index % self._units_per_file + self._units_per_file
        self._end = min(index + SCANNED_MAX, file_end)
        return False


def _next_file(place: int, file_size: int) -> int:
    """Return the start offset of the file behind *place*, in Java's arithmetic."""
    rest = place % file_size if place >= 0 else -(-place % file_size)
    found = place - rest + file_size
    return found if found <= INT64_MAX else 0
