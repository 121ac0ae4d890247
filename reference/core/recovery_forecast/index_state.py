"""
The index during a start: files that load deletes, and files that dispatch creates.

It has counts only. Dispatch of a record creates a file if no file exists or the last is
full (Java: IndexService#buildIndex).
"""

from __future__ import annotations

from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.commitlog.record_reader import TRANSACTION_MASK, ScannedRecord
from reference.core.store.index.index_service import KEY_SEPARATOR
from reference.core.store.recovery.load import is_offset, keeps_index_file
from reference.core.store.recovery.rules import RecoveryRules
from spec.store.file_names import INDEX
from spec.store.index_file import HEADER_SIZE, IndexHeader, decode_header
from spec.wire.message.properties import Property, decode_properties


class IndexFileError(Exception):
    """A file of the index cannot be opened."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is no file")
        self.path = path


class IndexState:
    """Number of index files, and the next item of the last."""

    def __init__(self, view: StoreView, item_count: int, rules: RecoveryRules) -> None:
        self.files = 0
        """Names in the directory, including those that are not offsets."""
        self.deleted: list[str] = []
        self._view = view
        self._item_count = item_count
        self._rules = rules
        self._has_file = False
        self._next_item = 1
        self._end_offset = 0

    def load(self, *, after_crash: bool, index_ms: int) -> None:
        """Load the files that the checkpoint confirms.

        Raises IndexFileError at an entry that is not a file, and loads none after it.
        """
        entries = self._view.entries(INDEX)
        self.files = len(entries)
        for entry in entries:
            if not is_offset(entry.name):
                continue
            path = f"{INDEX}/{entry.name}"
            if entry.size is None:
                raise IndexFileError(path)
            header = self._header(path)
            if not after_crash or self._is_kept(header, index_ms):
                self._has_file = True
                self._next_item = max(header.index_count, 1)
                self._end_offset = header.end_offset
            else:
                self.deleted.append(path)
                self.files -= 1

    def _is_kept(self, header: IndexHeader, index_ms: int) -> bool:
        return keeps_index_file(
            header.end_stored_at_ms,
            index_ms=index_ms,
            is_full=header.index_count >= self._item_count,
            rules=self._rules,
        )

    def take(self, record: ScannedRecord) -> None:
        """Dispatch a record of the log to the index."""
        self._make_room()
        if record.physical_offset < self._end_offset:
            return
        if record.system_flags & TRANSACTION_MASK == TRANSACTION_MASK:
            return
        words = decode_properties(str(record.properties, "utf-8", "replace"))
        keys = [key for key in words.get(Property.KEYS, "").split(KEY_SEPARATOR) if key]
        count = len(keys) + (Property.UNIQ_KEY in words)
        for _ in range(count):
            self._make_room()
            self._next_item += 1
        if count:
            self._end_offset = record.physical_offset

    def _make_room(self) -> None:
        if not self._has_file or self._next_item >= self._item_count:
            self._has_file = True
            self.files += 1
            self._next_item = 1

    def _header(self, path: str) -> IndexHeader:
        """Return the header of a file. A short file is padded with zeros."""
        data = bytes(self._view.data(path)[:HEADER_SIZE])
        return decode_header(data.ljust(HEADER_SIZE, b"\0"))
