"""
Reading ahead: what lets a start pass over most of a large log in runs.

The plain scan of ``recovery_scan`` reads one record after the other and judges each.
Before each it asks here whether records can be read in runs from there on. They are
once many were read plainly: a small store is not worth loading numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.store.api import StoreOptions
from reference.core.store.commit_log import CommitLog
from reference.core.store.dispatch import Dispatcher

if TYPE_CHECKING:
    from reference.core.store.record_runs import Run

LEAST = 32
"""Fewer records than these are dispatched one by one."""


class ReadingAhead:
    """Reads sound records of the log, and dispatches them if it is told by whom."""

    def __init__(
        self, log: CommitLog, options: StoreOptions, dispatcher: Dispatcher | None
    ) -> None:
        self._check_crc = log.check_crc_on_recover
        self._plain_left = options.records_read_one_by_one
        self._least = min(LEAST, options.records_read_one_by_one)
        self._dispatcher = dispatcher
        # What an extension gets of a message is asked of its record.
        self._is_off = dispatcher is not None and options.extension_file_size > 0

    def __call__(self, base: int, data: memoryview, at: int) -> int:
        """Return how far the file *data* was read, from *at* on.

        What stands there may be a record as well; the plain scan goes on with it.
        """
        if self._is_off or self._plain_left:
            self._plain_left = max(self._plain_left - 1, 0)
            return at
        from reference.core.store.record_runs import MOST, read_run

        run = read_run(data, at, most=MOST, check_crc=self._check_crc)
        while len(run.at):
            self._dispatch(base, data, run)
            at = run.end
            run = read_run(data, at, most=MOST, check_crc=self._check_crc)
        return at

    def _dispatch(self, base: int, data: memoryview, run: Run) -> None:
        if self._dispatcher is not None:
            self._dispatcher.in_runs(self._least).take(base, data, run)
