"""
Release of a mapped file's pages after a flush (Linux: MADV_DONTNEED).

Every touched page of a mapping counts as memory of the process. A broker that served
five gigabytes would seem to need five. The pages stay in the system's cache.
"""

from __future__ import annotations

import contextlib
import mmap
import threading
import time
from weakref import WeakSet

_LARGE = 16 * 1024 * 1024
"""Size in bytes from which a mapping is released even if it is not written."""
_PERIOD_S = 1.0


class PageRelease:
    """The large mappings of one store."""

    def __init__(self) -> None:
        self._large: WeakSet[mmap.mmap] = WeakSet()
        self._last_s = 0.0
        self._lock = threading.Lock()
        """For `_large`: files are opened on one thread and flushed on another."""

    def add(self, mapping: mmap.mmap) -> None:
        """Release the pages of *mapping* too, as long as it exists."""
        if len(mapping) >= _LARGE:
            with self._lock:
                self._large.add(mapping)

    def release(self, mapping: mmap.mmap) -> None:
        """Release the pages of a flushed *mapping*, and once a second those of all.

        The next access to a page takes longer; no data is lost.
        """
        _release(mapping)
        now_s = time.monotonic()
        if now_s - self._last_s >= _PERIOD_S:
            self._last_s = now_s
            with self._lock:
                large = list(self._large)
            for each in large:
                _release(each)


def _release(mapping: mmap.mmap) -> None:
    with contextlib.suppress(ValueError, OSError):  # closed, or no such advice
        mapping.madvise(mmap.MADV_DONTNEED)
