"""
The read-only view of a store: names, sizes and bytes.
"""

from __future__ import annotations

from typing import Protocol

from reference.core.store.recovery.load import DirectoryEntry


class ViewError(Exception):
    """The store cannot be read."""


class StoreView(Protocol):
    """A store's directory, read-only. Paths are relative to it and use ``/``."""

    def entries(self, directory: str) -> list[DirectoryEntry]:
        """Return the entries of *directory* by name; an empty list without one."""

    def data(self, path: str) -> memoryview:
        """Return the bytes of the file *path*; ViewError if it cannot be read."""

    def text(self, path: str) -> str | None:
        """Return the text of the file *path*, None without one."""

    def exists(self, path: str) -> bool:
        """Return whether *path* exists."""

    def is_locked(self) -> bool:
        """Return whether a broker holds the lock of the store."""

    def count_read(self, size: int) -> None:
        """Count *size* more bytes as read, for the display of progress."""
