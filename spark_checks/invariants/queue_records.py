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

from columns.scan.log_file import ReadAt
from columns.scan.record_columns import Queue
from spark_checks.counting_rules import QUEUE_DIGITS_MAX
from spark_checks.file_systems import reading
from spark_checks.invariants.file_findings import Place
from spark_checks.readers.schemas import UNIT
from spark_checks.store_files import Store, StoreFile, file_at, queue_in, read_whole
from spec.layout import LayoutError
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import SMALLEST_SIZE, decode_record, record_size
from spec.wire.message.properties import Property, decode_properties

RECORD_SIZE_MAX = 4 << 20
"""Largest record that is read; those of a broker have less than a kilobyte."""
GAP_MAX, SPAN_MAX = 16 << 10, 1 << 20
"""Bytes between two records that one read spans, and of all that it spans.

A remote store costs a request for each read.
"""
NEAR_SIZE = 4 << 10
"""Bytes to read of a record whose size is unknown."""
_queue_number = re.compile(rf"[0-9]{{1,{QUEUE_DIGITS_MAX}}}", re.ASCII)
Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRecord:
    """A record, with the place of its queue and log."""

    place: Place
    """Commit-log file, position and size."""
    topic: str
    queue_id: int
    queue_offset: int
    stored_at_ms: int
    reconsume_times: int
    body: bytes
    properties: Mapping[str, str]

    @property
    def own_place(self) -> Queue:
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
    """Consume-queue files of a store by their queue, and the records of each."""

    store: Store

    @cached_property
    def of_queue(self) -> Mapping[Queue, Sequence[StoreFile]]:
        """The files of each queue, in order; a queue may have none."""
        found: dict[Queue, list[StoreFile]] = defaultdict(list)
        for file in self.store.queue_files():
            found[queue_in(file)].append(file)
        return found

    def last(self, queue: Queue, count: int) -> list[QueuedRecord]:
        """Return the last *count* records of *queue*, or all of fewer."""
        for file in reversed(self.of_queue[queue]):
            used = np.flatnonzero(self.units_in(file)["size"])
            if len(used):
                end = file.base // UNIT_SIZE + int(used[-1]) + 1
                return self.at(queue, range(max(end - count, 0), end))
        return []

    def at(self, queue: Queue, numbers: Iterable[int]) -> list[QueuedRecord]:
        """Return the records at queue offsets *numbers*, without damaged ones."""
        wanted = np.array(sorted(set(numbers)), dtype=np.int64)
        found: list[QueuedRecord] = []
        for file in self.of_queue[queue]:
            places = wanted - file.base // UNIT_SIZE
            inside = (places >= 0) & (places < file.size // UNIT_SIZE)
            if inside.any():
                units = self.units_in(file)[places[inside]]
                found += self._records(queue, wanted[inside], units)
        return found

    def units_in(self, file: StoreFile) -> Rows:
        """Return the whole units of *file*, unwritten ones too."""
        whole = file.size - file.size % UNIT_SIZE
        data = read_whole(self.store.url, file, size_max=whole)
        return np.frombuffer(data, dtype=UNIT)

    def _records(
        self, queue: Queue, numbers: npt.NDArray[np.int64], units: Rows
    ) -> Iterator[QueuedRecord]:
        """Yield the records of *units* that have these queue offsets."""
        columns = (units["commit_log_offset"], units["size"], numbers)
        places = sorted(zip(*(column.tolist() for column in columns), strict=True))
        for file, span in _spans(self.store, places):
            base, begin = file.base, span[0][0]
            end = max(offset + size for offset, size, _ in span)
            with reading(self.store.url, file.path) as read_at:
                data = read_at(begin - base, end - begin)
            for offset, size, number in span:
                one = data[offset - begin : offset - begin + size]
                try:
                    record = queued_record(one, file, offset - base)
                except LayoutError:
                    continue
                has_size = record.place[1][1] == size
                if has_size and record.topic == queue[0]:
                    yield replace(record, queue_id=queue[1], queue_offset=number)


def record_at(read_at: ReadAt, file: StoreFile, position: int) -> QueuedRecord:
    """Return the record at *position* of a commit-log *file*; raises LayoutError."""
    data = read_at(position, NEAR_SIZE)
    size = int.from_bytes(data[:4], "big")
    if len(data) < size <= RECORD_SIZE_MAX:
        data = read_at(position, size)
    return queued_record(data, file, position, check_crc=False)


def queued_record(
    data: bytes, file: StoreFile, position: int, *, check_crc: bool = True
) -> QueuedRecord:
    """Return the record that begins *data*; raises LayoutError."""
    found = decode_record(data, check_crc=check_crc)
    return QueuedRecord(
        place=(file.path, (position, record_size(found))),
        topic=_shown(found.topic),
        queue_id=found.queue_id,
        queue_offset=found.queue_offset,
        stored_at_ms=found.stored_at_ms,
        reconsume_times=found.reconsume_times,
        body=found.body,
        properties=decode_properties(_shown(found.properties)),
    )


def _shown(text: str) -> str:
    """Return *text* with a replacement for what is not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _spans(
    store: Store, places: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[StoreFile, list[tuple[int, int, int]]]]:
    """Yield ordered *places* of records in groups near each other, and their file.

    A place is an offset, a size and a queue offset.
    """
    files = store.commit_log
    last: StoreFile | None = None
    group: list[tuple[int, int, int]] = []
    for place in places:
        offset, size, _ = place
        file = file_at(files, offset)
        if file is None or offset < store.min_offset:
            continue
        is_whole = offset + size <= file.base + file.size
        if not (SMALLEST_SIZE <= size <= RECORD_SIZE_MAX and is_whole):
            continue
        if group and last is not None:
            gap = offset - (group[-1][0] + group[-1][1])
            is_far = gap > GAP_MAX or offset + size - group[0][0] > SPAN_MAX
            if is_far or file is not last:
                yield last, group
                group = []
        group.append(place)
        last = file
    if last is not None:
        yield last, group
