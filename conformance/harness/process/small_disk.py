"""
A disk of a few megabytes, in memory, that a test may fill as it likes.

Only root may mount one. What is on it counts by what was written, not by what sparse
files could hold.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MB = 48
STEP = 64 * 1024
_MOUNTED = """
trap '' HUP INT TERM
mount -t tmpfs -o "$2" tmpfs "$1" || exit 1
echo mounted
read -r _
exec umount -l "$1"
"""
"""Program of the shell that mounts a disk until its standard input ends."""


class NoSmallDiskError(Exception):
    """There is no right, or no way, to mount one here."""


class SmallDisk:
    """A file system that is ours alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    @property
    def used(self) -> float:
        """Share of used space, 0 to 1, computed as in Java."""
        found = os.statvfs(self.path)
        return 1 - found.f_bfree / found.f_blocks

    def fill_to(self, used: float) -> None:
        """Fill or empty it until the share *used*, 0 to 1, is reached."""
        found = os.statvfs(self.path)
        had = self._ballast.stat().st_size if self._ballast.exists() else 0
        more = int((used - self.used) * found.f_blocks * found.f_frsize)
        with self._ballast.open("ab") as file:
            file.truncate(max(had + more, 0))
            if more > 0:
                os.posix_fallocate(file.fileno(), had, more)

    def fill(self) -> None:
        """Take all the space that is left."""
        with self._ballast.open("ab") as file:
            for size in (STEP, 4096, 1):
                self._write_while_there_is_room(file.fileno(), size)

    def free(self) -> None:
        """Give the space back."""
        self._ballast.unlink(missing_ok=True)

    @staticmethod
    def _write_while_there_is_room(number: int, size: int) -> None:
        data = bytes(size)
        while True:
            try:
                with open(number, "wb", buffering=0, closefd=False) as raw:
                    if raw.write(data) != size:
                        return
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    return
                raise


@contextmanager
def mount(path: Path, *, size_mb: int = SIZE_MB) -> Iterator[SmallDisk]:
    """Mount a small disk at *path*, which is made, until the end of the block.

    A process of its own unmounts it, also after a SIGKILL of this one.
    """
    shell = shutil.which("sh")
    if shell is None or not all(map(shutil.which, ("mount", "umount"))):
        raise NoSmallDiskError("this system has no mount")
    path.mkdir()
    with subprocess.Popen(
        [shell, "-c", _MOUNTED, "small-disk", str(path), f"size={size_mb}m"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            reason = process.communicate()[1].strip()
            raise NoSmallDiskError(f"no small disk can be mounted here: {reason}")
        try:
            yield SmallDisk(path)
        finally:
            _, errors = process.communicate()
            if process.returncode:
                raise OSError(f"{path} cannot be unmounted: {errors.strip()}")
