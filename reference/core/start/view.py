"""
A store as a prediction sees it: names, sizes and bytes, nothing that can be changed.
"""

from __future__ import annotations

from typing import Protocol

from reference.core.store.recovery_loading import Entry


class ViewError(Exception):
    """The store cannot be read."""


class StoreView(Protocol):
    """A store's directory, read-only. Paths are relative to it and use ``/``."""

    def entries(self, directory: str) -> list[Entry]:
        """Return what lies in *directory*, sorted by name; nothing without one."""

    def data(self, path: str) -> memoryview:
        """Return the bytes of the file *path*; ViewError if it cannot be read."""

    def text(self, path: str) -> str | None:
        """Return the text of the file *path*, None where there is none."""

    def exists(self, path: str) -> bool:
        """Return whether there is anything at *path*."""

    def is_locked(self) -> bool:
        """Return whether a broker holds the lock of the store."""

    def looked_at(self, size: int) -> None:
        """Note that *size* more bytes were read: who waits wants to know."""
