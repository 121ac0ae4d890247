"""
The index: a row of index files, the last of which is being filled.

Dispatch gives it every message with a unique key or with keys; a query asks the
files from the newest to the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reference.core.store.api import StoreOptions
from reference.core.store.checkpoint import CheckpointFile
from reference.core.store.files import Files
from reference.core.store.hashing import index_hash
from reference.core.store.index_file import IndexFile, Key
from reference.core.store.index_names import index_name
from reference.core.store.records import TRANSACTION_MASK, Found
from reference.core.store.recovery_loading import keeps_index_file
from reference.core.store.recovery_rules import REFERENCE

if TYPE_CHECKING:
    from reference.core.store.index_rows import KeyRow

_ROLLBACK = TRANSACTION_MASK
KEY_SEPARATOR = " "


class Index:
    """The index files of a store."""

    def __init__(self, files: Files, options: StoreOptions) -> None:
        self._files = files
        self._slot_count = options.index_slot_count
        self._item_count = options.index_item_count
        self._zone_offset_ms = options.zone_offset_ms
        self.started_at_ms = 0
        """No file is named after an earlier time."""
        self._row: list[IndexFile] = []

    def load(self, *, is_clean: bool, checkpoint: CheckpointFile) -> None:
        """Open the files; after a crash, only those that the checkpoint vouches for.

        4.6.0 org.apache.rocketmq.store.index.IndexService#load: the others are
        deleted, and dispatch fills them again only from where recovery begins. It also
        keeps one whose header was lost; only full files were ever flushed.
        """
        for name in self._files.names("index"):
            if not (name.isascii() and name.isdigit()):
                continue
            file = self._open(name)
            # [REC-CHECKPOINT-002]
            if not is_clean and not keeps_index_file(
                file.end_ms,
                index_ms=checkpoint.index_ms,
                is_full=file.is_full,
                rules=REFERENCE,
            ):
                file.close()
                self._files.delete(file.path)
            else:
                self._row.append(file)

    def put(self, found: Found, checkpoint: CheckpointFile) -> None:
        """Add all keys of a message, unless the index has it already.

        4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex: even a message
        without keys makes the first file.
        """
        file = self._file_with_room(found.stored_at_ms, checkpoint)
        if found.physical_offset < file.end_offset:
            return
        if found.system_flags & TRANSACTION_MASK == _ROLLBACK:
            return  # [INDEX-KEY-004]
        keys = keys_of(found)
        for key in keys:  # [QUERY-KEY-008]
            if file.is_full:
                file = self._file_with_room(found.stored_at_ms, checkpoint)
            file.put(
                index_hash(found.topic, key), found.physical_offset, found.stored_at_ms
            )
        if keys:
            file.write_header()

    @property
    def room(self) -> int:
        """How many keys `put_row` takes: -1 where `put` must make a file before."""
        return self._row[-1].room if self._row else -1

    def put_row(self, keys: KeyRow) -> None:
        """Add keys of messages that the index has not; there is room for all."""
        if len(keys.hashes):
            self._row[-1].put_row(keys)

    def put_all(self, run: Sequence[Found]) -> bool:
        """Add all keys of messages that follow each other, as `put` does one by one.

        Return False, with nothing done, where the last file has not room for more.
        """
        file = self._row[-1] if self._row else None
        if file is None or run[0].physical_offset < file.end_offset:
            return False
        keys: list[Key] = []
        for found in run:
            for key in keys_of(found):  # [QUERY-KEY-008]
                key_hash = index_hash(found.topic, key)
                keys.append((key_hash, found.physical_offset, found.stored_at_ms))
        return file.put_all(keys)

    def query(
        self, topic: str, key: str, *, count_max: int, begin_ms: int, end_ms: int
    ) -> list[int]:
        """Return up to *count_max* places that may have the key, the newest first."""
        offsets: list[int] = []
        key_hash = index_hash(topic, key)  # [QUERY-KEY-005]
        for file in reversed(self._row):  # [QUERY-KEY-003]
            if file.may_have(begin_ms, end_ms):
                for offset in file.find(key_hash, begin_ms, end_ms):
                    if len(offsets) >= count_max:
                        return offsets
                    offsets.append(offset)
            if file.begin_ms < begin_ms or len(offsets) >= count_max:
                break
        return offsets

    @property
    def last_update(self) -> tuple[int, int]:
        """When and where the last indexed message was stored; zeros without one."""
        if not self._row:
            return 0, 0
        return self._row[-1].end_ms, self._row[-1].end_offset

    def delete_before(self, log_start: int) -> None:
        """Delete the files of messages that all lie before *log_start*."""
        while len(self._row) > 1 and self._row[0].end_offset < log_start:
            file = self._row.pop(0)
            file.close()
            self._files.delete(file.path)

    def flush(self) -> None:
        """Return when everything written is on disk."""
        for file in self._row[-1:]:
            file.flush()

    def close(self) -> None:
        """Give the mappings back."""
        for file in self._row:
            file.close()
        self._row.clear()

    def _file_with_room(self, now_ms: int, checkpoint: CheckpointFile) -> IndexFile:
        last = self._row[-1] if self._row else None
        if last is not None and not last.is_full:
            return last
        made_at_ms = max(now_ms, self.started_at_ms) + self._zone_offset_ms
        name = index_name(made_at_ms, last.name if last else "")  # [STORE-NAME-004]
        file = self._open(name)
        self._row.append(file)
        if last is not None:
            file.begin_after(last)
            last.write_header()
            last.flush()
            checkpoint.index_ms = last.end_ms
            checkpoint.flush()
        return file

    def _open(self, name: str) -> IndexFile:
        return IndexFile(
            self._files,
            name,
            slot_count=self._slot_count,
            item_count=self._item_count,
        )


def keys_of(found: Found) -> list[str]:
    """Return what a message can be found by: its unique key, then its keys."""
    if not found.keys:
        return [] if found.unique_key is None else [found.unique_key]
    keys = [key for key in found.keys.split(KEY_SEPARATOR) if key]
    # [INDEX-KEY-003]
    return keys if found.unique_key is None else [found.unique_key, *keys]
