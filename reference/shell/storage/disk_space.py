"""
Disk space of a mapped file, allocated before the file is written.

A mapped write to a full disk kills the process with SIGBUS. Allocation therefore
precedes it, and fails with an error. Allocated blocks get their pages by one write of
zeros: the page faults of a mapping, each with its read-ahead, take ten times as long.

For a file that grows fast another thread allocates the next blocks. It writes only to
blocks that are not yet free for writing.

In a file system in memory (tmpfs) reading a hole through a mapping takes space too, and
also ends in SIGBUS without it. A start therefore makes sure that there is space for all
holes of the files it opens, or fails with an error. On disks a hole is read as zeros
and takes nothing.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from columns.file_holes import ranges_with_data
from reference.core.store.mapped.files import FilesError
from reference.core.store.recovery.scan import written_size

BLOCK_BITS = 14
"""Space is allocated in blocks of 16 KiB: consume queues are many and small."""
_AHEAD_BITS, _AHEAD_MAX = 3, 64
"""A file that grows at its end gets an eighth of its growth ahead, at most 64 blocks.
Each allocation waits for the file system's journal."""
_BACKGROUND_BLOCKS = 256
"""Blocks that the other thread allocates in one task. Each of its steps waits for the
interpreter's lock, and the task should end before the blocks are needed."""
_ZEROS = memoryview(bytes(_BACKGROUND_BLOCKS << BLOCK_BITS))
_executor = ThreadPoolExecutor(1, "disk space")
_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


class _Background(NamedTuple):
    """Blocks that the other thread allocates."""

    first: int
    stop: int
    done: Future[None]


class DiskSpace:
    """The allocated blocks of one file."""

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self.has = bytearray((size >> BLOCK_BITS) + 1)
        """1 for each block that may be written to."""
        self._path = path
        self._descriptor = descriptor
        self._size = size
        self._growth_start = self._growth_end = 0
        """The consecutive blocks that were allocated last."""
        self._background: _Background | None = None

    def allocate(self, first: int, last: int) -> None:
        """Allocate the blocks from *first* to *last*, or raise FilesError."""
        if 0 not in self.has[first : last + 1]:
            return
        self.wait()
        first = self.has.find(0, first, last + 1)
        if first >= 0:
            self._allocate_now(first, last)
        if self._growth_end - self._growth_start >= _AHEAD_MAX << _AHEAD_BITS:
            self._allocate_in_background(self._growth_end)

    def wait(self) -> None:
        """Wait for the other thread; its error is raised when the block is needed."""
        background, self._background = self._background, None
        if background is not None and background.done.exception() is None:
            self._mark(background.first, background.stop)

    def _allocate_now(self, first: int, last: int) -> None:
        if not first <= self._growth_end <= last:
            self._growth_start = first
        ahead = min((last + 1 - self._growth_start) >> _AHEAD_BITS, _AHEAD_MAX)
        stop = min(last + 1 + ahead, len(self.has))
        try:
            self._allocate_blocks(first, stop)
        except FilesError:
            stop = last + 1  # there may be space for the needed blocks alone
            self._allocate_blocks(first, stop)
        self._mark(first, stop)

    def _allocate_in_background(self, first: int) -> None:
        stop = min(first + _BACKGROUND_BLOCKS, len(self.has))
        if first < stop and 1 not in self.has[first:stop]:
            done = _executor.submit(self._allocate_blocks, first, stop)
            self._background = _Background(first, stop, done)

    def _mark(self, first: int, stop: int) -> None:
        self.has[first:stop] = b"\x01" * (stop - first)
        self._growth_end = stop

    def _allocate_blocks(self, first: int, stop: int) -> None:
        """Allocate space and pages for the blocks from *first* to before *stop*."""
        start = first << BLOCK_BITS
        size = min(stop << BLOCK_BITS, self._size) - start
        if size <= 0 or not hasattr(os, "posix_fallocate"):
            return
        try:
            os.posix_fallocate(self._descriptor, start, size)
            self._fill_holes(start, start + size)
        except OSError as error:
            action = f"cannot take {size} bytes of disk"
            raise files_error(action, self._path, error) from error

    def _fill_holes(self, start: int, stop: int) -> None:
        """Write zeros to all parts of a range that were never written."""
        at = start
        data = ranges_with_data(self._descriptor, start, stop)
        for begin, end in [*data, (stop, stop)]:
            while at < begin:
                at += os.pwrite(self._descriptor, _ZEROS[: begin - at], at)
            at = end


def written_size_of(
    descriptor: int, read: Callable[[int, int], bytes] | None = None
) -> int:
    """Return the position after the file's last byte that is not zero, or 0.

    *read* returns the bytes between two positions, by default from the file. Holes are
    not read. The position of the descriptor changes.
    """

    def read_file(begin: int, end: int) -> bytes:
        return os.pread(descriptor, end - begin, begin)

    size = os.fstat(descriptor).st_size
    for begin, end in reversed([*ranges_with_data(descriptor, 0, size)]):
        if written := written_size(read or read_file, begin, end):
            return written
    return 0


def files_error(action: str, path: Path, error: OSError) -> FilesError:
    """Return the FilesError for an *action* on *path* that the system refused."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ENOSPC:
        reason = "no space left on the disk"
    return FilesError(f"{action} {path}: {reason}")


def is_in_memory(path: Path) -> bool:
    """Return whether *path* is on a file system that keeps its files in memory."""
    while not path.exists():
        path = path.parent
    device = path.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:  # only Linux has this file
        return False
    kinds = {
        line.partition(" - ")[2].split(" ")[0]
        for line in lines
        if line.split(" ")[2] == wanted
    }
    return bool(kinds & _IN_MEMORY)


class HoleSpace:
    """The space that the holes of a store's open files may take."""

    def __init__(self, directory: Path) -> None:
        self.is_needed = False
        """Whether holes take space when they are read."""
        try:
            self.is_needed = is_in_memory(directory)
        except OSError as error:
            raise files_error("cannot look at", directory, error) from error
        self._promised = 0
        """Bytes of holes that have no space of their own yet."""

    def require(self, descriptor: int, path: Path) -> None:
        """Make sure that all holes of a file can be read, or raise FilesError."""
        if not self.is_needed:
            return
        size = os.fstat(descriptor).st_size
        data = sum(end - at for at, end in ranges_with_data(descriptor, 0, size))
        if self._promised + size - data <= _free(descriptor):
            self._promised += size - data
            return
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            action = f"cannot take {size - data} bytes of disk for the holes of"
            raise files_error(action, path, error) from error
        if self._promised > _free(descriptor):
            raise FilesError(f"no space left on the disk for the holes beside {path}")


def _free(descriptor: int) -> int:
    state = os.fstatvfs(descriptor)
    return state.f_bavail * state.f_frsize
