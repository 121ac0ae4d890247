"""
The commit log during a start: its files, its end, and the dispatch of its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise

from reference.core.recovery_forecast.store_view import StoreView, load_files
from reference.core.store.commitlog.record_reader import (
    ArrayTooLarge,
    Blank,
    ScannedRecord,
    places_before_magics,
    read_record,
)
from reference.core.store.layouts import record_head_codec
from reference.core.store.recovery.rules import RecoveryRules
from spec.integers import INT32_MAX
from spec.store.blank import BLANK_SIZE_MIN
from spec.store.epoch_file import EPOCH_FILE
from spec.store.failover import is_cut_off
from spec.store.file_names import COMMIT_LOG
from spec.store.message_record import SMALLEST_SIZE

_SMALLEST = SMALLEST_SIZE + 1
"""A record without a body, of a topic with one letter."""
SEVERAL = 2


class LogState:
    """The log: its files on disk, and its end after the start."""

    def __init__(self, view: StoreView, file_size: int, rules: RecoveryRules) -> None:
        self.start_offsets: list[int] = []
        self.file_size = file_size
        self.end = 0
        """Physical end: the offset after the last valid record."""
        self.is_recovered = False
        """Whether recovery has found the physical end."""
        self.recovery_begins: int | None = None
        self.deleted_files: list[str] = []
        """Paths."""
        self.ignored_files: list[str] = []
        """Names."""
        self.units_behind_end = 0
        """Units, in order, of messages behind the end on disk."""
        self.first_behind_end: int | None = None
        """Lowest offset of these messages."""
        self.queues_behind_end = 0
        """Queues that have such units."""
        self.foreign_files: list[int] = []
        """Start offsets of files that hold another store's records."""
        self._names: dict[int, str] = {}
        self._view = view
        self._rules = rules

    def load(self) -> None:
        """Load the files; raise StartRefusedError at the first wrong one."""
        found = load_files(self._view, COMMIT_LOG, self.file_size, self._rules)
        self._names = {int(name): name for name in found.names}
        self.start_offsets = list(self._names)
        self.deleted_files = [f"{COMMIT_LOG}/{name}" for name in found.deleted]
        self.ignored_files = list(found.ignored)

    @property
    def start(self) -> int:
        """Offset of the first byte; 0 without files."""
        return self.start_offsets[0] if self.start_offsets else 0

    @cached_property
    def end_on_disk(self) -> int:
        """Offset after the last byte that is not zero."""
        for base in reversed(self.start_offsets):
            if size := self._view.written_size(self.path(base)):
                return base + size
        return self.start

    @property
    def next_place(self) -> int:
        """Offset of the next record: in the next file if a blank is due."""
        left = -self.end % self.file_size if self.is_recovered else 0
        return self.end + left if 0 < left < _SMALLEST + BLANK_SIZE_MIN else self.end

    @property
    def cut_bytes(self) -> int:
        """Written bytes behind the physical end."""
        return max(self.end_on_disk - self.end, 0)

    @property
    def lacks_files(self) -> bool:
        """Whether units show that files behind the last one are missing.

        One unit may be garbage. The first of several must point close behind the last
        file. Units that point into that file are of messages that a crash or a copy of
        a running broker's store has left out.
        """
        first = self.first_behind_end
        if first is None or self.units_behind_end < SEVERAL:
            return False
        end = self.start_offsets[-1] + self.file_size if self.start_offsets else 0
        return end <= first < end + self.file_size

    @property
    def lacks_end(self) -> bool:
        """Whether units of several queues point into the last file, behind its end.

        A crash, or a copy of a running broker's store, leaves the same. A store that
        was closed has lost the end of the file.
        """
        first = self.first_behind_end
        if first is None or self.queues_behind_end < SEVERAL:
            return False
        return self.file_of(first) is not None

    @cached_property
    def is_cut_by_failover(self) -> bool:
        """Whether a failover has cut off the bytes behind the physical end."""
        base = self.base_of(self.end)
        file_end = base + self.file_size
        if not self.cut_bytes or self.end_on_disk > file_end:
            return False  # a failover deletes later files
        if not self._view.exists(EPOCH_FILE):
            return False
        before = [one.stored_at_ms for _, one in self.records(base, self.end)]
        behind = [one.stored_at_ms for _, one in self.records(self.end, file_end)]
        return is_cut_off(before[-1] if before else None, max(behind, default=None))

    def open(self, base: int) -> memoryview:
        """Return the whole file that begins at *base*."""
        return self._view.data(self.path(base))

    def path(self, base: int) -> str:
        """Return the path of the file that begins at *base*."""
        return f"{COMMIT_LOG}/{self._names[base]}"

    def file_of(self, place: int) -> int | None:
        """Return the start offset of the file that contains *place*, or None."""
        for base in reversed(self.start_offsets):
            if base <= place < base + self.file_size:
                return base
        return None

    def base_of(self, place: int) -> int:
        """Return the start offset of the file that contains *place*, if it exists."""
        return place - place % self.file_size

    def has_magic(self, place: int) -> bool:
        """Return whether a record may begin at *place*, or no file begins before it."""
        base = self.base_of(place)
        if base not in self._names:
            return True
        magic = self.open(base)[place - base + 4 :][:4]
        return int.from_bytes(magic, "big") in self._rules.magics

    def has_own_record(self, place: int) -> bool:
        """Return whether a record at *place* has this physical offset.

        Without a file there it is True, as that of `has_magic`.
        """
        base = self.base_of(place)
        if base not in self._names:
            return True
        data, at = self.open(base), place - base
        if at + record_head_codec.size > len(data):
            return False
        head = record_head_codec.unpack_from(data, at)
        return head[-1] == place and head[1] in self._rules.magics

    def has_bytes(self, place: int, size: int) -> bool:
        """Return whether a read of *size* bytes at *place* returns bytes.

        It is True for a size below 1, and for one that overflows Java's sum with the
        position. Both end the read with an error (4.6.0 CommitLog#getMessage).
        """
        at = place % self.file_size
        if place - at in self._names and at + size <= self.file_size:
            return place + size <= self.end or size <= 0
        if size <= 0 or at + size > INT32_MAX:
            return True
        return place == 0 and bool(self._names) and 0 not in self._names

    def holes(self) -> list[tuple[int, int]]:
        """Return the offset ranges of missing files between existing ones."""
        return [
            (before + self.file_size, after)
            for before, after in pairwise(self.start_offsets)
            if before + self.file_size < after
        ]

    def record_at(self, place: int) -> ScannedRecord | None:
        """Return the record that begins at *place*, or None."""
        base = self.file_of(place)
        if base is None:
            return None
        seen = read_record(self.open(base), place - base, self._rules, check_crc=False)
        return seen if isinstance(seen, ScannedRecord) else None

    def records(self, begin: int, end: int) -> Iterator[tuple[int, ScannedRecord]]:
        """Yield the records from *begin* to *end*, each with its commit-log offset.

        After garbage, the next record counts only if its physical offset is its place.
        """
        for base in self.start_offsets:
            if base + self.file_size > begin and base < end:
                data = self.open(base)[: min(end - base, self.file_size)]
                yield from self._records_in(data, base, max(begin - base, 0))

    def _records_in(
        self, data: memoryview, base: int, at: int
    ) -> Iterator[tuple[int, ScannedRecord]]:
        is_certain = True
        while at < len(data):
            seen = read_record(data, at, self._rules, check_crc=False)
            if isinstance(seen, ScannedRecord) and (
                is_certain or seen.physical_offset == base + at
            ):
                is_certain = True
                yield base + at, seen
                at += seen.size
                continue
            is_certain = False
            at = next(places_before_magics(data, at + 1), len(data))


def dispatch(
    log: LogState,
    begin: int,
    take: Callable[[ScannedRecord], None],
    rules: RecoveryRules,
) -> int | None:
    """Pass each record from *begin*, behind the queues' last unit, to *take*.

    Return the commit-log offset at which dispatch waits for ever, None without one.
    4.5 to 4.9 complete it before they serve. It does not check bodies. It skips the
    rest of a file after garbage. It waits for ever at a missing file
    (Java: DefaultMessageStore$ReputMessageService#doReput).
    """
    place = max(begin, log.start)
    while place < log.end:
        base = log.file_of(place)
        if base is None:
            if rules.waits_at_holes:
                return place
            place = min(
                (one for one in log.start_offsets if one > place), default=log.end
            )
            continue
        data = log.open(base)[: min(log.end - base, log.file_size)]
        if place - base >= len(data):
            return place
        after = _dispatch_file(data, place - base, take, rules)
        if after is None:
            return place
        # A blank leads to the next file by arithmetic, whether it is there or not.
        place = base + log.file_size if after < 0 else base + after
    return None


def _dispatch_file(
    data: memoryview,
    at: int,
    take: Callable[[ScannedRecord], None],
    rules: RecoveryRules,
) -> int | None:
    """Return the position in its file at which dispatch continues.

    -1 is the next file. None: dispatch never continues. After a record whose size
    contradicts its fields, Java counts the size but reads on after the fields.
    """
    counted, size_read, size = at, 0, len(data) - at
    while size_read < size:
        seen = read_record(data, at, rules, check_crc=False)
        if isinstance(seen, ScannedRecord):
            take(seen)
            at, counted = at + seen.size, counted + seen.size
            size_read += seen.size
        elif isinstance(seen, Blank):
            return -1
        elif isinstance(seen, ArrayTooLarge):
            return None
        elif seen.size > 0:
            at, counted = at + seen.fields_size, counted + seen.size
        else:
            return counted + size - size_read
    return counted
