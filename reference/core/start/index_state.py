"""
The index during a start: which files are deleted, and how many dispatch makes.

Only counts are kept. A record that dispatch gives to the index makes a file where there
is none, or the last is full (Java: IndexService#buildIndex).
"""

from __future__ import annotations

from reference.core.start.view import StoreView
from reference.core.store.index import KEY_SEPARATOR
from reference.core.store.records import TRANSACTION_MASK
from reference.core.store.recovery_loading import is_offset, keeps_index_file
from reference.core.store.recovery_rules import RecoveryRules
from reference.core.store.recovery_scan import Sighted
from spec.store.file_names import INDEX
from spec.store.index_file import HEADER_SIZE, IndexHeader, decode_header
from spec.wire.properties import Property, decode_properties


class IndexFileError(Exception):
    """A file of the index cannot be opened."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is no file")
        self.path = path


class IndexState:
    """The files of the index, and how full the last is."""

    def __init__(self, view: StoreView, item_count: int, rules: RecoveryRules) -> None:
        self.files = 0
        """Names in the directory, strange ones too."""
        self.deleted: list[str] = []
        self._view = view
        self._item_count = item_count
        self._rules = rules
        self._has_file = False
        self._next_item = 1
        self._end_offset = 0

    def load(self, *, after_crash: bool, index_ms: int) -> None:
        """Take up the files that the checkpoint vouches for.

        Raises IndexFileError at what is no file; those behind it are not taken up.
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

    def take(self, record: Sighted) -> None:
        """Give a record of the log to the index."""
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
        """Return the header of a file; what is missing of a short one is zeros."""
        data = bytes(self._view.data(path)[:HEADER_SIZE])
        return decode_header(data.ljust(HEADER_SIZE, b"\0"))
