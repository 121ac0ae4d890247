"""
Columns of the records of a window.

A window holds thousands of records. Numpy gathers their numbers by a plan derived from
the layout, and splits all properties in one pass. Checksums are computed per record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from columns.gather import Bools, FieldColumns, Ints
from columns.key_hashes import KEY_NAMES
from columns.log_batch import LogBatch, body_crcs
from columns.numbers.texts import numbers_in
from columns.record_properties import Properties, properties_of
from columns.scan.record_damage import damage_of
from columns.tags_codes import hashed_tags
from columns.topics import Topics, topics_of
from spec.wire.message.delay_levels import UNKNOWN_LEVEL_MS
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_SCHEDULE_TOPIC = SCHEDULE_TOPIC.encode()
_LEVEL_DIGITS_MAX = 9
_DELAY = b"DELAY"
REAL_TOPIC = b"REAL_TOPIC"
NAMES = (*KEY_NAMES, _DELAY, REAL_TOPIC)
"""Properties that are read of every record."""

Queue = tuple[str, int]
"""Topic and queue id."""
QueuePart = tuple[str, int, int, int]
"""Topic, queue id, and the first and last of some queue offsets."""
Delays = Mapping[int, int]
"""Milliseconds of each delay level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """Equally long columns, one entry per record."""

    data: bytes
    """Window that holds the records."""
    found: FieldColumns
    """All fields; byte fields are places in *data*."""
    offsets: Ints
    """Commit-log offset of the record, by its place."""
    topics: Topics
    split: Properties
    """Values of the properties NAMES."""
    tags_codes: Ints
    """Tags code of the record's unit, computed from the properties."""
    body_crcs: Ints
    """Computed checksum of the body; the field ``body_crc`` is the stored one."""
    damage: Ints
    """Bits of :class:`columns.scan.record_damage.RecordDamage`."""

    @property
    def are_wrong(self) -> Bools:
        """Mask of the records that may break a rule about single records."""
        numbers = self.found.numbers
        found: Bools = numbers["body_crc"] != self.body_crcs
        found |= numbers["physical_offset"] != self.offsets
        found |= self.damage != 0
        return found

    def are_in(self, parts: Collection[QueuePart]) -> Bools:
        """Return the mask of the records in *parts* of queues."""
        ids, at = (self.found.numbers[name] for name in ("queue_id", "queue_offset"))
        found = np.zeros(len(self.offsets), dtype=np.bool_)
        for (number, name), part in product(enumerate(self.topics.texts), parts):
            topic, queue_id, first, last = part
            if name == topic:  # several topics may have one text
                is_in = (self.topics.numbers == number) & (ids == queue_id)
                found |= is_in & (at >= first) & (at <= last)
        return found


def read_columns(
    batch: LogBatch,
    delays: Delays,
    *,
    begun_at_ms: int | None = None,
    is_checked: bool = True,
) -> RecordColumns:
    """Return the columns of the records of *batch*.

    *begun_at_ms* is the store time of the file's first record, if known. Without
    *is_checked*, checksums and damage are zero.
    """
    data, found = batch.data, batch.fields
    topics = topics_of(data, found)
    begins, sizes = found.places["properties"]
    split = properties_of(data, begins, begins + sizes, NAMES)
    codes = hashed_tags(split)
    _add_delivery_times(codes, found, topics, split, delays)
    crcs = damage = np.zeros(len(codes), dtype=np.int64)
    if is_checked:
        crcs = body_crcs(data, found.places["body"])
        damage = damage_of(data, found, split, crcs, begun_at_ms=begun_at_ms)
    return RecordColumns(
        data=batch.data,
        found=found,
        offsets=batch.offsets,
        topics=topics,
        split=split,
        tags_codes=codes,
        body_crcs=crcs,
        damage=damage,
    )


def _add_delivery_times(
    codes: Ints, found: FieldColumns, topics: Topics, split: Properties, delays: Delays
) -> None:
    """Replace the tags code of each delayed message by its due time."""
    if _SCHEDULE_TOPIC not in topics.names:
        return
    begins, sizes, _, _ = split.values[_DELAY]
    waits = topics.numbers == topics.names.index(_SCHEDULE_TOPIC)
    waiting = np.flatnonzero(waits & (sizes > 0))
    places = begins[waiting], sizes[waiting]
    levels = numbers_in(split.text, places, digits=_LEVEL_DIGITS_MAX)
    levels = np.minimum(levels, max(delays, default=0))
    for level in np.unique(levels[levels > 0]).tolist():
        of_level = waiting[levels == level]
        delay_ms = delays.get(level, UNKNOWN_LEVEL_MS)
        codes[of_level] = found.numbers["stored_at_ms"][of_level] + delay_ms
