"""
The index: a sequence of index files, the last of which is being filled.

Dispatch puts the unique key and the keys of every message. A query searches the files
from the newest to the oldest (Java: IndexService).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from reference.core.store.commitlog.record_reader import TRANSACTION_MASK
from reference.core.store.flush import CheckpointFile
from reference.core.store.index.index_file import IndexFile, IndexKey, index_hash
from reference.core.store.mapped.files import Files
from reference.core.store.recovery.load import keeps_index_file
from reference.core.store.recovery.rules import REFERENCE
from reference.core.store.types import DispatchRequest, StoreOptions

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: a damaged record may have any store time."""


class IndexService:
    """The index files of a store."""

    def __init__(
        self, files: Files, options: StoreOptions, *, started_at_ms: int
    ) -> None:
        self._files = files
        self._slot_count = options.index_slot_count
        self._item_count = options.index_item_count
        self._zone_offset_ms = options.zone_offset_ms
        self._started_at_ms = started_at_ms
        """No file is named after an earlier time."""
        self._index_files: list[IndexFile] = []

    def load(self, *, is_clean: bool, checkpoint: CheckpointFile) -> None:
        """Open the files; after a crash, only those that the checkpoint covers.

        4.6.0 org.apache.rocketmq.store.index.IndexService#load: the others are
        deleted, and dispatch fills them again only from the begin of recovery. 4.6.0
        also keeps a file whose header was lost, for it flushes only full files.
        """
        for name in self._files.names("index"):
            if not (name.isascii() and name.isdigit()):
                continue
            file = self._open(name)
            if not is_clean and not keeps_index_file(
                file.end_ms,
                index_ms=checkpoint.index_ms,
                is_full=file.room <= 0,
                rules=REFERENCE,
            ):
                file.close()
                self._files.delete(file.path)
            else:
                self._index_files.append(file)

    def put(
        self, requests: Sequence[DispatchRequest], checkpoint: CheckpointFile
    ) -> None:
        """Add all keys of consecutive messages that the index does not have.

        4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex: even a message
        without keys makes the first file, or the next one behind a full file.
        """
        file = self._index_files[-1] if self._index_files else None
        if file is None or file.room <= 0:
            file = self._add_file(requests[0].stored_at_ms, checkpoint)
        end_offset = file.end_offset
        keys: list[IndexKey] = []
        room = file.room
        for request in requests:
            place, stored_at_ms = request.physical_offset, request.stored_at_ms
            # [INDEX-KEY-004]
            is_rollback = request.system_flags & TRANSACTION_MASK == TRANSACTION_MASK
            is_indexed = place >= end_offset and not is_rollback
            own_keys = request.index_keys if is_indexed else ()
            for key in own_keys or (None,):
                if len(keys) == room:
                    file.put(keys)
                    keys = []
                    file = self._add_file(stored_at_ms, checkpoint)
                    room = file.room
                if key is not None:
                    keys.append((index_hash(request.topic, key), place, stored_at_ms))
        if keys:
            file.put(keys)

    @property
    def newest(self) -> IndexFile | None:
        """The file that receives keys, or None."""
        return self._index_files[-1] if self._index_files else None

    def query(
        self, topic: str, key: str, *, count_max: int, begin_ms: int, end_ms: int
    ) -> list[int]:
        """Return up to *count_max* commit-log offsets by key hash, the newest first."""
        offsets: list[int] = []
        key_hash = index_hash(topic, key)  # [QUERY-KEY-005]
        for file in reversed(self._index_files):  # [QUERY-KEY-003]
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
        """Store time and commit-log offset of the last indexed message, or zeros."""
        file = self.newest
        return (file.end_ms, file.end_offset) if file else (0, 0)

    def delete_before(self, log_start: int) -> None:
        """Delete the files whose messages are all before *log_start*."""
        files = self._index_files
        while len(files) > 1 and files[0].end_offset < log_start:
            file = files.pop(0)
            file.close()
            self._files.delete(file.path)

    def flush(self) -> None:
        """Block until everything written is on disk."""
        for file in self._index_files[-1:]:
            file.flush()

    def close(self) -> None:
        """Unmap the files."""
        for file in self._index_files:
            file.close()
        self._index_files.clear()

    def _add_file(self, now_ms: int, checkpoint: CheckpointFile) -> IndexFile:
        """Create and return the first file, or the one behind a full file."""
        last = self.newest
        made_at_ms = max(now_ms, self._started_at_ms) + self._zone_offset_ms
        name = index_name(made_at_ms, last.name if last else "")  # [STORE-NAME-004]
        file = self._open(name)
        self._index_files.append(file)
        if last is not None:
            file.begin_after(last)
            last.write_header()
            last.flush()
            checkpoint.index_ms = last.end_ms
            checkpoint.flush()
        return file

    def _open(self, name: str) -> IndexFile:
        return IndexFile(
            self._files, name, slot_count=self._slot_count, item_count=self._item_count
        )


def index_name(now_ms: int, previous: str) -> str:
    """Return the name of a file made at a local time: ``yyyyMMddHHmmssSSS``.

    It sorts behind the name *previous*.
    """
    moment = _EPOCH + timedelta(milliseconds=min(max(now_ms, 0), _LAST_MS))
    name = f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}".zfill(17)
    return name if name > previous else str(int(previous) + 1).zfill(17)
