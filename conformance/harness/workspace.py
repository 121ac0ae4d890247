"""
A workspace is the temporary directory of one started target.

It is locked while its owner lives. When a run was killed before it could clean up,
the next run finds the directory unlocked and removes it.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from pathlib import Path
from typing import IO

PREFIX = "rocketmq-conformance-target-"
_LOCK = "owner.lock"


class Workspace:
    """A directory that is ours until it is closed."""

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _try_lock(self.path / _LOCK)

    def close(self) -> None:
        """Remove the directory; closing twice is harmless."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()


def _sweep(directory: Path) -> None:
    """Remove the workspaces of runs that are no more."""
    for left in directory.glob(f"{PREFIX}*"):
        if not (left / _LOCK).exists():
            continue  # it may be a neighbour's, made a moment ago
        lock = _try_lock(left / _LOCK)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            lock.close()


def _try_lock(path: Path) -> IO[bytes] | None:
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
