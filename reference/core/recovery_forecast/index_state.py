"""
The index during a start: files that load deletes, and files that dispatch creates.

It has counts only. Dispatch of a record creates a file if no file exists or the last is
full (Java: IndexService#buildIndex).
"""

from __future__ import annotations

from reference.core.recovery_forecast.store_view import StartRefusedError, StoreView
from reference.core.store.commitlog.record_reader import TRANSACTION_MASK, ScannedRecord
from reference.core.store.recovery.load import is_offset, keeps_index_file
from reference.core.store.recovery.rules import RecoveryRules
from spec.layout import parse
from spec.store.file_names import INDEX
from spec.store.index_file import HEADER_SIZE, IndexHeader, header_layout
from spec.wire.message.properties import Property, decode_properties, keys_of


class IndexState:
    """Number of index files, and the next item of the last."""

    def __init__(self, view: StoreView, item_count: int, rules: RecoveryRules) -> None:
        self.files = 0
        """Names in the directory, including those that are not offsets."""
        self.deleted: dict[str, int] = {}
        """Paths of deleted files, with the commit-log offset of their first item."""
        self.rewritten: list[str] = []
        """Paths of deleted files whose items recovery writes again, all of them."""
        self.without_header: list[str] = []
        """Paths of kept files that are too short for a header."""
        self._view = view
        self._item_count = item_count
        self._rules = rules
        self._has_file = False
        self._next_item = 1
        self._end_offset = 0

    def load(self, *, after_crash: bool, index_ms: int) -> None:
        """Load the files that the checkpoint confirms.

        An entry that is not a file ends the load, or raises StartRefusedError.
        """
        entries = self._view.entries(INDEX)
        self.files = len(entries)
        for entry in entries:
            if not is_offset(entry.name):
                continue
            path = f"{INDEX}/{entry.name}"
            if entry.size is None:
                if self._rules.needs_index_files:
                    raise StartRefusedError("REC-LOAD-007", path, f"{path} is no file")
                return
            header = self._header(path)
            is_kept = not after_crash or keeps_index_file(
                header.end_stored_at_ms,
                index_ms=index_ms,
                is_full=header.index_count >= self._item_count,
                rules=self._rules,
            )
            if is_kept:
                self._has_file = True
                self._next_item = max(header.index_count, 1)
                self._end_offset = header.end_offset
                if entry.size < HEADER_SIZE:
                    self.without_header.append(path)
            else:
                self.deleted[path] = header.begin_offset
                self.files -= 1

    def take(self, record: ScannedRecord) -> None:
        """Dispatch a record of the log to the index."""
        self._make_room()
        if record.physical_offset < self._end_offset:
            return
        if record.system_flags & TRANSACTION_MASK == TRANSACTION_MASK:
            return
        words = decode_properties(str(record.properties, "utf-8", "replace"))
        count = len(keys_of(words)) + (Property.UNIQ_KEY in words)
        count += self._rules.indexes_tags and bool(words.get(Property.TAGS))
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
        """Return the header of a file, also one with negative counts.

        A short file is padded with zeros.
        """
        data = bytes(self._view.data(path)[:HEADER_SIZE])
        parsed = parse(header_layout, data.ljust(HEADER_SIZE, b"\0"))
        return IndexHeader(**{name: parsed[name] for name in IndexHeader.__slots__})
