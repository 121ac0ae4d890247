"""
Summary of a survey, and the queues that it makes suspect.

Both sides of a queue, records and units, have a count, a range and a hash that does not
depend on order. If the sides agree, every record has its unit and every unit its
record. Only queues whose sides differ are read again, row by row.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from columns.scan.log_ranges import Sums, add_sums
from columns.scan.record_columns import Queue
from spark_checks.situation import Situation


class QueueSummary(Struct, frozen=True, kw_only=True):
    """Sums of one side of one queue, or of a part of it.

    A window has one of each queue. A dataclass takes ten times as long to make.
    """

    count: int
    matched_count: int
    """Records that need a unit, or units that need a record."""
    first: int | None
    """Smallest queue offset."""
    last: int | None
    hash: int

    def plus(self, other: QueueSummary) -> QueueSummary:
        """Return the sums of both parts."""
        return QueueSummary(
            count=self.count + other.count,
            matched_count=self.matched_count + other.matched_count,
            first=_of_both(min, self.first, other.first),
            last=_of_both(max, self.last, other.last),
            hash=self.hash ^ other.hash,
        )


Queues = dict[Queue, QueueSummary]
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveySummary:
    """Sums of a store, or of a part of one."""

    records: Queues = field(default_factory=dict)
    units: Queues = field(default_factory=dict)
    regions: int = 0
    """Damaged regions of the log."""
    wrong_records: int = 0
    """Records that may break a rule about single records."""
    damaged: int = 0
    """Those of them with wrong content, apart from checksum and place."""
    log_end: int = 0
    """Commit-log offset after the last record."""
    last_stored_at_ms: int | None = None
    last_file_base: int = 0
    """Start offset of the last file that has a record."""
    first_tail_base: int | None = None
    """Start offset of the first file with an unwritten end."""
    slots_used: Counter[str] = field(default_factory=Counter)
    """Number of index slots with an item, by the path of the index file."""
    damaged_items: int = 0
    """Index items and slots that are wrong by themselves."""
    suspect_ranges: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of the log in which to read single records again; not in order."""
    key_sums: Sums = field(default_factory=dict)
    """Sums of the keys in the index's ranges."""
    tag_sums: Sums = field(default_factory=dict)
    """Sums of the tags there, which only releases since 5.4 index."""
    item_sums: Sums = field(default_factory=dict)
    """Sums of the index items that point there."""
    kernel_tasks: int = 0
    """Tasks that ran with kernels."""
    fallback_tasks: int = 0
    """Tasks that lacked them, although they were requested."""

    def plus(self, other: SurveySummary) -> SurveySummary:
        """Return the summary of both parts; reuses this one's tables."""
        both = {
            name: _MERGES.get(name, operator.add)(
                getattr(self, name), getattr(other, name)
            )
            for name in self.__slots__
        }
        return SurveySummary(**both)

    def units_of(self, topic: str, queue: str) -> QueueSummary | None:
        """Return the sums of the units of a *queue*, by its id; None without units."""
        found = self.units.get((topic, int(queue))) if queue.isdecimal() else None
        return None if found is None or found.last is None else found

    @property
    def record_count(self) -> int:
        """Number of records."""
        return sum(queue.count for queue in self.records.values())

    @property
    def unlike_sections(self) -> list[int]:
        """Numbers of the sections whose sums of keys and of index items differ.

        Since 5.4 tags are in the index as well; a section may be of either kind.
        """
        keys, tags, items = self.key_sums, self.tag_sums, self.item_sums
        return [
            number
            for number in sorted({*keys, *tags, *items})
            if (items.get(number, 0) ^ keys.get(number, 0))
            not in (0, tags.get(number, 0))
        ]

    def completed(self, situation: Situation) -> Situation:
        """Return *situation* with the facts about the log."""
        return replace(
            situation,
            log_end=self.log_end,
            last_file_base=self.last_file_base,
            last_stored_at_ms=self.last_stored_at_ms or 0,
        )

    def suspects(self, situation: Situation) -> list[Queue]:
        """Return the queues to read again."""
        queues = sorted({*self.records, *self.units})
        return [queue for queue in queues if self._is_suspect(queue, situation)]

    @property
    def log_is_suspect(self) -> bool:
        """Whether to read single records again."""
        first = self.first_tail_base
        has_early_tail = first is not None and first < self.last_file_base
        return self._has_wrong_rows or has_early_tail

    @property
    def has_suspect_rows(self) -> bool:
        """Whether a part of a log has rows to read again if the log is suspect."""
        return self._has_wrong_rows or self.first_tail_base is not None

    @property
    def _has_wrong_rows(self) -> bool:
        return bool(self.regions or self.wrong_records)

    def _is_suspect(self, queue: Queue, situation: Situation) -> bool:
        records, units = self.records.get(queue), self.units.get(queue)
        return differ(records, units, situation) or starts_late(records, situation)


def differ(
    records: QueueSummary | None, units: QueueSummary | None, situation: Situation
) -> bool:
    """Return whether the sides of a queue differ, or one of them has gaps."""
    if units is not None and not _is_dense(units, units.count):
        return True
    log_side = (records.matched_count, records.hash) if records else (0, 0)
    queue_side = (units.matched_count, units.hash) if units else (0, 0)
    has_units = units is not None or not situation.has_queues_in_rocksdb
    if has_units and (log_side[0] or queue_side[0]) and log_side != queue_side:
        return True
    if records is None or situation.is_sampled:
        return False
    return not _is_dense(records, records.matched_count)


def starts_late(records: QueueSummary | None, situation: Situation) -> bool:
    """Return whether the first *records* of a queue are missing, not deleted."""
    if records is None or not records.matched_count or situation.is_sampled:
        return False
    return records.first != 0 and situation.min_offset == 0


def _is_dense(summary: QueueSummary, count: int) -> bool:
    """Return whether *count* distinct offsets fill the range."""
    if summary.first is None or summary.last is None:
        return True
    return summary.last - summary.first + 1 == count


def add_queues(
    queues: dict[Key, QueueSummary], parts: Iterable[tuple[Key, QueueSummary]]
) -> dict[Key, QueueSummary]:
    """Add the sums of *parts* of queues to *queues*, and return them."""
    for queue, sums in parts:
        known = queues.get(queue)
        queues[queue] = sums if known is None else known.plus(sums)
    return queues


def _of_both(
    choose: Callable[[int, int], int], one: int | None, other: int | None
) -> int | None:
    """Return the number that *choose* returns of both, or the only number."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


_MERGES: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(
        ("records", "units"), lambda mine, others: add_queues(mine, others.items())
    ),
    **dict.fromkeys(("log_end", "last_file_base"), max),
    **dict.fromkeys(("key_sums", "tag_sums", "item_sums"), add_sums),
    "last_stored_at_ms": partial(_of_both, max),
    "first_tail_base": partial(_of_both, min),
}
"""Functions that merge a field of two summaries; the other fields are added."""
