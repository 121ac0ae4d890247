"""
The port to the disk.

A store has three kinds of files. Commit log, consume queues, index and checkpoint are
mapped and have a fixed size. The JSON files of ``config/`` are replaced as a whole. The
file ``abort`` exists or not. Paths are relative to the store and use ``/``.

The files of a disk are in `reference.shell.storage.disk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

WORD_SIZE = 4


class FilesError(Exception):
    """A failure of the disk: no space, wrong size, no permission, in use."""


class MappedFile(Protocol):
    """A file of a fixed size whose bytes lie in memory."""

    @property
    def size(self) -> int:
        """Bytes of the file; it never changes."""

    @property
    def view(self) -> memoryview:
        """All bytes, read-only; a write is visible here immediately."""

    @property
    def holes_take_space(self) -> bool:
        """Whether bytes that were never written may be read only after `reserve`."""

    @property
    def modified_at_ms(self) -> int:
        """Time of the last write."""

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write *data* at the byte *at*, or raise FilesError and write nothing."""

    def write_words(self, words: bytes, places: Sequence[int]) -> None:
        """Write four bytes of *words* at each place, a multiple of four.

        *places* is not empty. Raises FilesError and writes nothing, as `write` does.
        """

    def reserve(self, at: int, size: int) -> None:
        """Allocate space for *size* bytes at *at*, or raise FilesError."""

    def clear(self, at: int) -> None:
        """Make all bytes from *at* on zero, as if they had never been written."""

    def flush(self) -> None:
        """Block until everything written is on disk."""

    def close(self) -> None:
        """Unmap the file; existing views stay readable."""


class Files(Protocol):
    """A directory with the store's files."""

    def lock(self) -> None:
        """Lock this directory against other stores, or raise FilesError."""

    def unlock(self) -> None:
        """Release the lock."""

    def names(self, directory: str) -> list[str]:
        """Return the sorted names in *directory*; none if it does not exist."""

    def size(self, path: str) -> int | None:
        """Return the size of the file *path*; None if it does not exist."""

    def open(self, path: str, size: int) -> MappedFile:
        """Return the file *path* mapped; create it, or extend it with zeros."""

    def delete(self, path: str) -> None:
        """Delete the file *path*, or the empty directory, if it exists."""

    def read_text(self, path: str) -> str | None:
        """Return the text of *path*; None if it does not exist."""

    def replace_text(self, path: str, text: str) -> None:
        """Replace the content of *path* by *text* atomically."""

    def disk_space(self) -> tuple[int, int]:
        """Return total and free bytes of the disk; (0, 0) without a disk."""
