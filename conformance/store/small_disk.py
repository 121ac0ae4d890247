"""
A disk of a few megabytes that a test may fill: a file system in memory.

Only root may mount one. It counts what is written, not what sparse files could hold.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

SIZE = 128 * 1024 * 1024
PREFIX = "rocketmq-conformance-disk-"


class SmallDisk:
    """A mounted file system, and the ballast on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    @property
    def used(self) -> float:
        """How full it is, from 0 to 1, as Java tells it."""
        found = os.statvfs(self.path)
        return 1 - found.f_bfree / found.f_blocks

    def fill(self, used: float) -> None:
        """Make it as full as *used* says, from 0 to 1."""
        had = self._ballast.stat().st_size if self._ballast.exists() else 0
        size = max(had + int((used - self.used) * SIZE), 0)
        with self._ballast.open("ab") as file:
            file.truncate(size)
            if size > had:
                os.posix_fallocate(file.fileno(), had, size - had)


def why_not() -> str:
    """Return why no disk can be mounted here; nothing if one can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a small disk can be mounted by root only"
    try:
        with small_disk():
            return ""
    except subprocess.CalledProcessError as error:
        return f"a small disk cannot be mounted here: {error.stderr.strip()}"
    except FileNotFoundError:
        return "a small disk cannot be mounted here: there is no mount"


@contextmanager
def small_disk() -> Iterator[SmallDisk]:
    """Mount a small disk, and take it away in the end."""
    with TemporaryDirectory(prefix=PREFIX) as name:
        _run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", name)
        try:
            yield SmallDisk(Path(name))
        finally:
            _run("umount", "--lazy", name)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)
