"""
Vectorised scan of the commit log by recovery.

Thousands of records are read and checked in one step. A window is copied out of the
mapped file once. ``columns.log_batch`` reads its sound records. Records that columns do
not accept are left to core's `read_record`, which alone refuses any.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columns.log_batch import LogBatch, sound_batch
from columns.topics import topics_of
from reference.core.store.recovery.recover import StoreParts
from reference.fast.bulk_dispatch import BulkDispatcher

FIRST_WINDOW_SIZE = 64 * 1024
WINDOW_SIZE = 8 * 1024 * 1024
"""Bytes of the windows behind a sound one."""


class RecordScanner:
    """Implements `BulkScanner`."""

    def __init__(self, parts: StoreParts, *, dispatches: bool, run_from: int) -> None:
        self._check_crc = parts.options.check_crc_on_recover
        self._magics = [*parts.options.rules.magics]
        self._dispatcher = BulkDispatcher(parts, run_from) if dispatches else None
        self._window_size = FIRST_WINDOW_SIZE

    def __call__(self, base: int, data: memoryview, position: int) -> int:
        """Return the position behind the sound records from *position* on."""
        while True:
            window = bytes(data[position : position + self._window_size])
            size = self._read(window, base + position)
            # A record that only core accepts costs one small window, not a large one.
            self._window_size = FIRST_WINDOW_SIZE
            if not size:
                return position
            position += size
            self._window_size = WINDOW_SIZE

    def _read(self, window: bytes, offset: int) -> int:
        """Put the sound records with which *window* begins; return their bytes."""
        end = 0
        while batch := sound_batch(
            window, end, base_offset=offset, check_crc=self._check_crc
        ):
            topics = topics_of(window, batch.fields)
            count = _accepted(batch, self._magics)
            if count and self._dispatcher is not None:
                self._dispatcher.put(batch.first(count), topics.first(count))
            if count < len(batch.starts):
                return int(batch.starts[count])
            end = batch.end
        return end


def _accepted(batch: LogBatch, magics: Sequence[int]) -> int:
    """Return the number of records before the first that `read_record` refuses.

    It refuses other *magics*.
    """
    is_refused = ~np.isin(batch.fields.numbers["magic"], magics)
    return int(is_refused.argmax()) if is_refused.any() else len(batch.starts)
