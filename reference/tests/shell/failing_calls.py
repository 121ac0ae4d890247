"""
Calls of the system that fail: the n-th, or consecutive ones, with a chosen error.

The calls are those of `os` and `mmap` by which the shell changes a disk. Those that do
not fail are made, so that a directory shows their effect; only a flush does nothing.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CALLS = (
    *("open", "ftruncate", "posix_fallocate", "pwrite", "write", "fdatasync", "fsync"),
    *("utime", "mkdir", "replace", "unlink", "rmdir", "fstat", "stat", "listdir"),
)
FLUSHES = ("fdatasync", "fsync")
SHORT = 0
"""In place of an error number: a write writes half of its bytes and reports that."""
ERRORS = {
    "ENOSPC": errno.ENOSPC,
    "EIO": errno.EIO,
    "EACCES": errno.EACCES,
    "EISDIR": errno.EISDIR,
    "EMFILE": errno.EMFILE,
    "short": SHORT,
}
NEVER = -1


class FailingCalls:
    """The calls of the process, counted; some of them fail."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        """Calls so far, failed ones included."""
        self.failed: list[str] = []
        """Names of the calls that failed."""
        self.first = self.last = NEVER
        """Numbers of the first and the last call that fails."""
        self.error = errno.EIO
        for name in CALLS:
            call = _no_flush if name in FLUSHES else getattr(os, name)
            patch.setattr(os, name, self._wrapped(name, call))
        patch.setattr(mmap, "mmap", self._wrapped("mmap", mmap.mmap))

    def fail(self, first: int, last: int, error: int) -> None:
        """Let the calls from *first* to *last*, counted from now, fail."""
        self.count, self.failed = 0, []
        self.first, self.last, self.error = first, last, error

    def stop(self) -> None:
        """Let no further call fail."""
        self.first = self.last = NEVER

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*values: Any, **named: Any) -> Any:
            number, self.count = self.count, self.count + 1
            if not self.first <= number <= self.last:
                return call(*values, **named)
            if self.error != SHORT:
                self.failed.append(name)
                raise OSError(self.error, os.strerror(self.error))
            if name in ("write", "pwrite"):
                self.failed.append(name)
                descriptor, data, *rest = values
                return call(descriptor, bytes(data)[: max(1, len(data) // 2)], *rest)
            return call(*values, **named)

        return counted


def _no_flush(descriptor: int) -> None:
    """Return; no test here cuts the power."""
    assert descriptor >= 0


def open_count() -> int:
    """Return the number of open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))
