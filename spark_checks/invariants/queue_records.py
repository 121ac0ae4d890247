"""
Records of one queue, read by the units of its consume queue, or one by its place.

A unit is checked before it is followed. Damaged records of a queue are left out,
because other invariants report them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from columns.gather import FieldColumns, gather, numbers_at
from columns.log_batch import body_crcs, record_plans
from spark_checks.columns.record_scan import SIZE, ReadAt
from spark_checks.counting_rules import QUEUE_DIGITS_MAX
from spark_checks.readers.schemas import UNIT
from spark_checks.store_files import Store, StoreFile, queue_of, read_whole, reading
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    SMALLEST_SIZE,
)
from spec.wire.message.properties import Property, decode_properties

RECORD_SIZE_MAX = 4 << 20
"""Largest record that is read; those of a broker have less than a kilobyte."""
GAP_MAX, SPAN_MAX = 16 << 10, 1 << 20
"""Bytes between two records that one read spans, and of all that it spans.

A remote store costs a request for each read.
"""
NEAR_SIZE = 4 << 10
"""Bytes to read of a record whose size is unknown."""
_NUMBERS = ("queue_id", "queue_offset", "stored_at_ms", "reconsume_times")
_queue_number = re.compile(rf"[0-9]{{1,{QUEUE_DIGITS_MAX}}}", re.ASCII)
Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRecord:
    """A record, with the place of its queue and log."""

    file: str
    """The commit-log file."""
    position: int
    size: int
    topic: str
    queue_id: int
    queue_offset: int
    stored_at_ms: int
    reconsume_times: int
    body: bytes
    properties: Mapping[str, str]

    @property
    def place(self) -> tuple[int, int]:
        """Position and size in the file."""
        return self.position, self.size

    @property
    def own_place(self) -> tuple[str | None, int | None]:
        """Topic and queue id."""
        return self.topic, self.queue_id

    @property
    def real_place(self) -> tuple[str | None, int | None]:
        """Topic and queue id in the properties; None if one is missing or invalid."""
        number = self.properties.get(Property.REAL_QID, "")
        queue_id = int(number) if _queue_number.fullmatch(number) else None
        return self.properties.get(Property.REAL_TOPIC), queue_id


@dataclass(frozen=True)
class QueueFiles:
    """Consume-queue files of a store by their queue, listed once."""

    store: Store

    @cached_property
    def of_queue(self) -> Mapping[tuple[str, int], Sequence[StoreFile]]:
        """The files of each queue, in order."""
        found: dict[tuple[str, int], list[StoreFile]] = defaultdict(list)
        for file in self.store.consume_queues:
            found[queue_of(file.path) or ("", 0)].append(file)
        return found

    def reader(self, topic: str, queue_id: int) -> QueueReader:
        """Return a reader of one queue, which may have no files."""
        files = tuple(self.of_queue.get((topic, queue_id), ()))
        return QueueReader(self.store, topic, queue_id, files)


@dataclass(frozen=True)
class QueueReader:
    """Reader of the records of one queue of a store."""

    store: Store
    topic: str
    queue_id: int
    files: tuple[StoreFile, ...]
    """The consume-queue files, in order."""

    @cached_property
    def end(self) -> int:
        """Queue offset behind the last unit."""
        for file in reversed(self.files):
            used = np.flatnonzero(self.units_in(file)["size"])
            if len(used):
                return (file.base or 0) // UNIT_SIZE + int(used[-1]) + 1
        return 0

    def last(self, count: int) -> list[QueuedRecord]:
        """Return the last *count* records, or all of fewer."""
        begin = max(self.end - count, 0)
        return self.at(range(begin, self.end))

    def at(self, numbers: Iterable[int]) -> list[QueuedRecord]:
        """Return the records at queue offsets *numbers*, without damaged ones."""
        wanted = np.array(sorted(set(numbers)), dtype=np.int64)
        found: list[QueuedRecord] = []
        for file in self.files:
            first = (file.base or 0) // UNIT_SIZE
            inside = wanted[
                (wanted >= first) & (wanted < first + file.size // UNIT_SIZE)
            ]
            if len(inside):
                rows = self.units_in(file)[inside - first]
                found += self._records(inside, rows)
        return found

    def units_in(self, file: StoreFile) -> Rows:
        """Return the whole units of *file*, unwritten ones too."""
        whole = file.size - file.size % UNIT_SIZE
        data = read_whole(self.store.url, file, size_max=whole)
        return np.frombuffer(data, dtype=UNIT)

    def _records(
        self, numbers: npt.NDArray[np.int64], rows: Rows
    ) -> Iterator[QueuedRecord]:
        """Yield the records of units, by the commit-log files that hold them."""
        offsets = rows["commit_log_offset"].astype(np.int64)
        sizes = rows["size"].astype(np.int64)
        is_record = (sizes >= SMALLEST_SIZE) & (sizes <= RECORD_SIZE_MAX)
        for file in self.store.commit_log:
            base = file.base or 0
            begin = max(base, self.store.min_offset)
            inside = is_record & (offsets >= begin)
            inside &= offsets + sizes <= base + file.size
            places = np.flatnonzero(inside)
            order = places[np.argsort(offsets[places], kind="stable")]
            spans = zip(
                numbers[order].tolist(),
                (offsets[order] - base).tolist(),
                sizes[order].tolist(),
                strict=True,
            )
            yield from self._in_file(file, list(spans))

    def _in_file(
        self, file: StoreFile, places: list[tuple[int, int, int]]
    ) -> Iterator[QueuedRecord]:
        """Yield the records at *places*: queue offset, position and size of each."""
        if not places:
            return
        with reading(self.store.url, file.path) as read_at:
            for span in _spans(places):
                begin = span[0][1]
                end = max(position + size for _, position, size in span)
                data = read_at(begin, end - begin)
                yield from self._decoded(file, span, data, begin)

    def _decoded(
        self,
        file: StoreFile,
        span: list[tuple[int, int, int]],
        data: bytes,
        begin: int,
    ) -> Iterator[QueuedRecord]:
        """Yield the undamaged records of *span* in *data*."""
        starts = np.array([position - begin for _, position, _ in span], dtype=np.int64)
        limits = starts + np.array([size for *_, size in span], dtype=np.int64)
        if len(data) < limits.max():  # a file that was cut meanwhile
            return
        found = gather(data, starts, limits, record_plans)
        magics = found.numbers["magic"]
        is_whole = (found.ends == limits) & (
            (magics == MAGIC_V1) | (magics == MAGIC_V2)
        )
        for index in np.flatnonzero(is_whole).tolist():
            body = found.places["body"]
            one = (body[0][index : index + 1], body[1][index : index + 1])
            if body_crcs(data, one)[0] != found.numbers["body_crc"][index]:
                continue
            number, position, size = span[index]
            record = _record(data, found, index, file, (position, size))
            if record.topic == self.topic:
                yield replace(record, queue_id=self.queue_id, queue_offset=number)


def record_at(read_at: ReadAt, file: StoreFile, position: int) -> QueuedRecord:
    """Return the readable record at *position* of a commit-log *file*."""
    data = read_at(position, NEAR_SIZE)
    size = int(numbers_at(data, np.zeros(1, dtype=np.int64), SIZE)[0])
    if size > len(data):
        data = read_at(position, size)
    found = gather(data, np.zeros(1, np.int64), np.array([size]), record_plans)
    return _record(data, found, 0, file, (position, size))


def _record(
    data: bytes,
    found: FieldColumns,
    index: int,
    file: StoreFile,
    place: tuple[int, int],
) -> QueuedRecord:
    """Return the record *index* of *found*, at a *place* in *file*."""
    body, topic, properties = (
        data[int(begins[index]) : int(begins[index] + sizes[index])]
        for begins, sizes in (found.places[n] for n in ("body", "topic", "properties"))
    )
    numbers = {name: int(found.numbers[name][index]) for name in _NUMBERS}
    return QueuedRecord(
        file=file.path,
        position=place[0],
        size=place[1],
        topic=topic.decode("utf-8", "replace"),
        body=body,
        properties=decode_properties(properties.decode("utf-8", "replace")),
        **numbers,
    )


def _spans(
    places: list[tuple[int, int, int]],
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield *places* in groups that are near each other."""
    group: list[tuple[int, int, int]] = []
    for place in places:
        if group:
            _, last, size = group[-1]
            is_near = place[1] - (last + size) <= GAP_MAX
            if not is_near or place[1] + place[2] - group[0][1] > SPAN_MAX:
                yield group
                group = []
        group.append(place)
    if group:
        yield group
