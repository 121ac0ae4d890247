"""
The disk's space for a file, asked for before anything is written there.

A mapped write that finds the disk full would kill the process instead of failing. With
its space a stretch gets its pages, by one write of zeros: left to the mapping, each
page would be looked for on the disk first, and many behind it, which takes ten times as
long. The next stretches of a file that grows fast are made by another thread. It
writes only to stretches that nobody else may write to yet.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from reference.core.store.files import FilesError

STRETCH_BITS = 14
"""Space is asked for in stretches of 16 KiB: queues are many and small."""
_AHEAD_BITS, _AHEAD_MAX = 3, 64
"""A file that grows at its end is given an eighth of its growth in advance, at most 64
stretches: to ask for space means to wait for the file system's journal."""
_COMING = 256
"""Stretches that the other thread makes at a time: it has to wait for its turn with the
interpreter at each step, and should be through before they are wanted."""
_ZEROS = memoryview(bytes(_COMING << STRETCH_BITS))
_helper = ThreadPoolExecutor(1, "disk space")


class _Coming(NamedTuple):
    """Stretches that the other thread makes."""

    first: int
    stop: int
    done: Future[None]


class DiskSpace:
    """The stretches of one file that have their space."""

    def __init__(self, path: Path, file_number: int, size: int) -> None:
        self.has = bytearray((size >> STRETCH_BITS) + 1)
        """1 for each stretch that may be written to."""
        self._path = path
        self._file_number = file_number
        self._size = size
        self._row_begin = self._row_end = 0
        """The stretches that were taken one behind the other, lately."""
        self._coming: _Coming | None = None

    def take(self, first: int, last: int) -> None:
        """Have space for all stretches from *first* to *last*, or raise FilesError."""
        if 0 not in self.has[first : last + 1]:
            return
        self.settle()
        first = self.has.find(0, first, last + 1)
        if first >= 0:
            self._take_now(first, last)
        if self._row_end - self._row_begin >= _AHEAD_MAX << _AHEAD_BITS:
            self._let_come(self._row_end)

    def settle(self) -> None:
        """Return when the other thread has done what it was asked for."""
        coming, self._coming = self._coming, None
        if coming is not None and coming.done.exception() is None:
            self._note(coming.first, coming.stop)  # else it is asked for when needed

    def _take_now(self, first: int, last: int) -> None:
        if not first <= self._row_end <= last:
            self._row_begin = first
        ahead = min((last + 1 - self._row_begin) >> _AHEAD_BITS, _AHEAD_MAX)
        stop = min(last + 1 + ahead, len(self.has))
        try:
            self._make(first, stop)
        except FilesError:
            stop = last + 1  # what is wanted now may still be had
            self._make(first, stop)
        self._note(first, stop)

    def _let_come(self, first: int) -> None:
        """Have the other thread make the stretches from *first* on."""
        stop = min(first + _COMING, len(self.has))
        if first < stop and 1 not in self.has[first:stop]:
            self._coming = _Coming(first, stop, _helper.submit(self._make, first, stop))

    def _note(self, first: int, stop: int) -> None:
        self.has[first:stop] = b"\x01" * (stop - first)
        self._row_end = stop

    def _make(self, first: int, stop: int) -> None:
        """Have space and pages for the stretches from *first* to before *stop*."""
        start = first << STRETCH_BITS
        size = min(stop << STRETCH_BITS, self._size) - start
        if size <= 0 or not hasattr(os, "posix_fallocate"):
            return
        try:
            os.posix_fallocate(self._file_number, start, size)
            self._fill_holes(start, start + size)
        except OSError as error:
            says = f"cannot take {size} bytes of disk"
            raise refused(says, self._path, error) from error

    def _fill_holes(self, start: int, stop: int) -> None:
        """Write zeros where nothing was ever written between two positions."""
        at = start
        data = stretches_with_data(self._file_number, start, stop)
        for begin, end in [*data, (stop, stop)]:
            while at < begin:
                at += os.pwrite(self._file_number, _ZEROS[: begin - at], at)
            at = end


def stretches_with_data(
    file_number: int, at: int, stop: int
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of all that may be no zeros from *at* to *stop*."""
    while at < stop:
        begin, end = _next_data(file_number, at, stop)
        if begin < end:
            yield begin, end
        at = end


def _next_data(file_number: int, at: int, stop: int) -> tuple[int, int]:
    """Return where the next bytes begin and end that the file system keeps."""
    if not hasattr(os, "SEEK_DATA"):
        return at, stop
    try:
        begin = min(os.lseek(file_number, at, os.SEEK_DATA), stop)
        return begin, min(os.lseek(file_number, begin, os.SEEK_HOLE), stop)
    except OSError as error:
        # ENXIO: nothing but a hole is left. Else the system cannot tell.
        return (stop, stop) if error.errno == errno.ENXIO else (at, stop)


def refused(what: str, path: Path, error: OSError) -> FilesError:
    """Return the one line that says what the system refused, and why."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ENOSPC:
        reason = "no space left on the disk"
    return FilesError(f"{what} {path}: {reason}")
