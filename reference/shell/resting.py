"""
Resting: a mapped file gives its memory back to the system, which keeps what it wants.

Every page of a mapping that was touched counts as memory of the process, so a broker
that has passed five gigabytes on would seem to need five. What is on disk can be had
from there again, and the system remembers the pages that matter anyway.
"""

from __future__ import annotations

import contextlib
import mmap
import time
from weakref import WeakSet

_LARGE = 16 * 1024 * 1024
"""Bytes of a file that is looked after even when nobody writes to it."""
_PERIOD_S = 1.0


class Resting:
    """The large mappings of one store."""

    def __init__(self) -> None:
        self._large: WeakSet[mmap.mmap] = WeakSet()
        self._last_s = 0.0

    def add(self, mapping: mmap.mmap) -> None:
        """Look after *mapping* as long as there is one."""
        if len(mapping) >= _LARGE:
            self._large.add(mapping)

    def rest(self, mapping: mmap.mmap) -> None:
        """Let *mapping* rest, of which all was flushed, and now and then the others.

        Readers and writers only notice that the next touch takes a little longer.
        """
        _let_go(mapping)
        now_s = time.monotonic()
        if now_s - self._last_s >= _PERIOD_S:
            self._last_s = now_s
            for each in list(self._large):
                _let_go(each)


def _let_go(mapping: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):
        with contextlib.suppress(ValueError):  # it was closed meanwhile
            mapping.madvise(mmap.MADV_DONTNEED)
