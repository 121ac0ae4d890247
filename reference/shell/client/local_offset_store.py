"""Local consumer offsets: a JSON file with a backup for each broadcasting member."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reference.core.client.message import MessageQueue
from spec.client.local_offsets import BACKUP, FILE, FOLDER, LocalOffsets
from spec.layout import LayoutError
from spec.wire.bodies.json_body import decode_body, encode_body


class LocalOffsetStore:
    """The consumer offsets of a broadcasting member, in a JSON file with a backup.

    Java: LocalFileOffsetStore, with `.bak` for the content before.
    """

    def __init__(self, folder: Path | None, client_id: str, group: str) -> None:
        self.folder = (folder or Path.home() / FOLDER) / client_id / group

    def read(self) -> Mapping[MessageQueue, int]:
        """Return the persisted offsets, from the backup if the file is unreadable."""
        for name in (FILE, BACKUP):  # [CLIENT-LOCALOFFSET-002]
            try:
                content = (self.folder / name).read_bytes()
                table = decode_body(LocalOffsets, content).offsets
            except (OSError, LayoutError):
                continue
            return {MessageQueue.named(name): offset for name, offset in table.items()}
        return {}

    def persist(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Replace the file, which becomes the backup."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file, fresh = self.folder / FILE, self.folder / f"{FILE}.tmp"
        table = {queue.name: offset for queue, offset in offsets.items()}
        fresh.write_bytes(encode_body(LocalOffsets(offsets=table)))
        with suppress(FileNotFoundError):
            file.replace(self.folder / BACKUP)
        fresh.replace(file)
