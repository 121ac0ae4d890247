"""
A workspace is the temporary directory of a run: of one started target, for example.

It is locked while its owner lives. When a run was killed before it could clean up,
the next run finds the directory unlocked and removes it.
"""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import tempfile
from pathlib import Path
from typing import IO

PREFIX = "rocketmq-conformance-target-"
_LOCK = "owner.lock"
_ATTEMPTS = 20
FILES_MIN = 1024
"""Open files that a started target may need: with 256, 120 tests of two suites fail."""
FREE_MIN = 16 << 20
"""Bytes of free space that a started target may need: those of one commit-log file."""


def shortage() -> str:
    """Return the lack of files or of space for a target; empty without any."""
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= files < FILES_MIN:
        return f"no more than {files} files may be open; {FILES_MIN} may be needed"
    directory = tempfile.gettempdir()
    if shutil.disk_usage(directory).free >= FREE_MIN:
        return ""
    return f"{directory} has less than {FREE_MIN >> 20} MiB free for temporary files"


class Workspace:
    """A directory that is ours until it is closed."""

    def __init__(self) -> None:
        sweep()
        self.path, self._lock = _locked_directory()

    def close(self) -> None:
        """Remove the directory; closing twice is harmless."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _locked_directory() -> tuple[Path, IO[bytes]]:
    """Return a new directory and the lock on it."""
    for _ in range(_ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = try_lock(path / _LOCK)
        # A neighbour's sweep may have come between the lock's file and the lock: then
        # it holds the lock, or it has removed the file that we hold.
        if lock is not None and _is_still(path / _LOCK, lock):
            return path, lock
        if lock is not None:
            lock.close()
    raise OSError(f"no directory in {tempfile.gettempdir()} could be locked")


def _is_still(path: Path, lock: IO[bytes]) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    held = os.fstat(lock.fileno())
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def sweep() -> None:
    """Remove the workspaces of processes that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not (left / _LOCK).exists():
            continue  # it may be a neighbour's, made a moment ago
        lock = try_lock(left / _LOCK)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            lock.close()


def try_lock(path: Path) -> IO[bytes] | None:
    """Return *path* opened and locked, or None if another process has locked it."""
    try:
        lock = path.open("wb")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
