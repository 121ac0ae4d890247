"""
Holes of files in memory (tmpfs): reading one through a mapping takes space.

Without that space the process gets SIGBUS and ends without a word. A start therefore
makes sure that there is space for all holes of the files it opens, or fails with an
error. On disks a hole is read as zeros and takes nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from reference.core.store.mapped.files import FilesError
from reference.shell.storage.disk_space import files_error, ranges_with_data

_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


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

    def require(self, file_number: int, path: Path) -> None:
        """Make sure that all holes of a file can be read, or raise FilesError."""
        if not self.is_needed:
            return
        size = os.fstat(file_number).st_size
        data = sum(end - at for at, end in ranges_with_data(file_number, 0, size))
        if self._promised + size - data <= _free(file_number):
            self._promised += size - data
            return
        try:
            os.posix_fallocate(file_number, 0, size)
        except OSError as error:
            action = f"cannot take {size - data} bytes of disk for the holes of"
            raise files_error(action, path, error) from error
        if self._promised > _free(file_number):
            raise FilesError(f"no space left on the disk for the holes beside {path}")


def _free(file_number: int) -> int:
    state = os.fstatvfs(file_number)
    return state.f_bavail * state.f_frsize
