"""
The file in which a broadcasting member keeps how far it has come.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from reference.core.client.local_offsets import decode_offsets, encode_offsets
from reference.core.client.message import Queue
from spec.client.local_offsets import BACKUP, FILE, FOLDER


class OffsetFile:
    """The file of one client's group, and the one before it."""

    def __init__(self, folder: Path | None, client_id: str, group: str) -> None:
        self.folder = (folder or Path.home() / FOLDER) / client_id / group

    def read(self) -> Mapping[Queue, int]:
        """Return what was kept."""
        return decode_offsets(self._content(FILE), self._content(BACKUP))

    def write(self, offsets: Mapping[Queue, int]) -> None:
        """Keep *offsets*, and what was kept before as a backup."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file, fresh = self.folder / FILE, self.folder / f"{FILE}.tmp"
        fresh.write_bytes(encode_offsets(offsets))
        with contextlib.suppress(FileNotFoundError):
            file.replace(self.folder / BACKUP)
        fresh.replace(file)

    def _content(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return b""
