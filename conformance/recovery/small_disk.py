"""A disk of a few megabytes, in memory, that a test can fill to the last byte."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.harness.outcome import unsupported

SIZE_MB = 48
STEP = 64 * 1024


class SmallDisk:
    """A file system that is ours alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

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
def mounted(path: Path) -> Iterator[SmallDisk]:
    """Mount a small disk at *path*; without the right to, the test is unsupported."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        unsupported("this system has no mount")
    path.mkdir()
    words = [mount, "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(path)]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        unsupported(f"no small disk can be mounted here: {made.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run([umount, "-l", str(path)], check=True)
