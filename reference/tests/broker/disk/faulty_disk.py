"""
A disk that refuses chosen writes: the n-th, those of some seconds, or all that follow.

It stands for a full or failing disk, of which a test cannot have enough. The shell
turns every refusal of the system (ENOSPC, EIO, EACCES, EISDIR, a short write) into the
same FilesError before the core sees it.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.mapped.files import FilesError
from reference.tests.memory_files import MemoryFile, MemoryFiles


class FaultyFiles(MemoryFiles):
    """Files in memory that count their writes and refuse some."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        """Writes so far, refused ones included."""
        self.refused = 0
        self.first = self.last = -1
        """Numbers of the first and the last write that are refused."""

    def strike(self, action: str) -> None:
        """Count a write, and refuse it if it is one of those."""
        number, self.count = self.count, self.count + 1
        if self.first <= number <= self.last:
            self.refused += 1
            raise FilesError(f"cannot {action}: the disk refuses")

    def open(self, path: str, size: int) -> MemoryFile:
        """Return the file *path*; creating it is a write."""
        if path not in self.mapped:
            self.strike(f"make {path}")
            self.mapped[path] = FaultyFile(size, self, path)
        return super().open(path, size)

    def replace_text(self, path: str, text: str) -> None:
        """Replace a small file."""
        self.strike(f"replace {path}")
        super().replace_text(path, text)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.strike(f"delete {path}")
        super().delete(path)


class FaultyFile(MemoryFile):
    """A mapped file on a faulty disk."""

    def __init__(self, size: int, files: FaultyFiles, path: str) -> None:
        super().__init__(size, files)
        self._disk, self._path = files, path

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write *data*, or nothing."""
        self._disk.strike(f"write to {self._path}")
        super().write(data, at)

    def write_words(self, words: bytes, places: Sequence[int]) -> None:
        """Write all words, or none."""
        self._disk.strike(f"write to {self._path}")
        for number, at in enumerate(places):
            super().write(words[4 * number :][:4], at)

    def reserve(self, at: int, size: int) -> None:
        """Take space."""
        self._disk.strike(f"take space for {self._path}")
        super().reserve(at, size)

    def flush(self) -> None:
        """Flush the file."""
        self._disk.strike(f"flush {self._path}")
