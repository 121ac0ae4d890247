"""
Columns of the records of a window.

A window holds thousands of records. Numpy gathers their numbers by a plan derived from
the layout, and splits all properties in one pass. Checksums are computed per record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from columns.gather import (
    NOWHERE,
    FieldColumns,
    Ints,
    Places,
    gather,
    numbers_at,
)
from columns.log_batch import body_crcs, record_plans
from columns.record_properties import Properties, properties_of
from columns.tags_codes import hashed_tags
from columns.topics import Topics, topics_of
from spark_checks.columns.record_damage import damage_of
from spark_checks.columns.record_scan import (
    SIZE,
    FileRange,
    ReadAt,
    Reading,
    Refused,
    Region,
    Window,
    scan_range,
)
from spec.wire.message.delay_levels import UNKNOWN_LEVEL_MS
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_SCHEDULE_TOPIC = SCHEDULE_TOPIC.encode()
_level = re.compile(rb"-?[0-9]{1,9}")

Delays = Mapping[int, int]
"""Milliseconds of each delay level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """Equally long columns, one entry per record."""

    fixed: Mapping[str, Ints]
    """Fixed-size fields by name, and ``position`` and ``size``."""
    topics: Topics
    tags_codes: Ints
    """Tags code of the record's unit, computed from the properties."""
    body_crcs: Ints
    """Computed checksum of the body; ``body_crc`` of *fixed* is the stored one."""
    damage: Ints
    """Bits of :class:`spark_checks.columns.record_damage.RecordDamage`."""
    properties: tuple[Ints, Ints]
    """Begin and end of the properties in the window's data."""
    split: Properties
    """The same properties, split into names and values."""
    born_addresses: tuple[Ints, Ints]
    """Begin and size of the producer's address."""
    found: FieldColumns
    """All gathered fields."""


def read_columns(
    window: Window,
    delays: Delays,
    *,
    begun_at_ms: int | None = None,
    is_checked: bool = True,
) -> Reading[RecordColumns | None]:
    """Return the columns of the records of *window*, and the first invalid record.

    *begun_at_ms* is the store time of the file's first record, if known. Without
    *is_checked*, checksums and damage are zero.
    """
    found, refused = fields_of(window)
    if not len(found.ends):
        return None, refused
    fixed: dict[str, Ints] = dict(found.numbers)
    (body, body_size), (properties, properties_size) = (
        found.places[name] for name in ("body", "properties")
    )
    end = properties + properties_size
    fixed["position"] = window.starts[: len(body)] + window.position
    topics = topics_of(window.data, found)
    split = properties_of(window.data, properties, end)
    nothing = np.zeros(len(body), dtype=np.int64)
    crcs = body_crcs(window.data, (body, body_size)) if is_checked else nothing
    columns = RecordColumns(
        fixed=fixed,
        topics=topics,
        tags_codes=_with_delivery_times(
            fixed, topics, hashed_tags(split, len(body)), split, delays
        ),
        body_crcs=crcs,
        damage=damage_of(
            window.data,
            fixed,
            (body, body_size),
            split,
            crcs,
            ends=end,
            begun_at_ms=begun_at_ms,
        )
        if is_checked
        else nothing,
        properties=(properties, end),
        split=split,
        born_addresses=found.places["born_host_address"],
        found=found,
    )
    return columns, refused


def fields_of(window: Window) -> Reading[FieldColumns]:
    """Return the fields of the records of *window* before the first invalid one."""
    starts = window.starts
    ends = starts + numbers_at(window.data, starts, SIZE)
    found = gather(window.data, starts, ends, record_plans)
    wrong = np.flatnonzero(found.ends != ends)
    if not wrong.size:
        return found, None
    first = int(wrong[0])
    start, size = int(starts[first]), int(ends[first] - starts[first])
    if found.ends[first] == NOWHERE:
        reason = f"a field reaches past the record's {size} bytes"
    else:
        taken = int(found.ends[first]) - start
        reason = f"the size is {size} bytes, the fields take {taken}"
    return found.first(first), Refused(start=start, reason=reason)


def readable_records(
    read_at: ReadAt, where: FileRange
) -> Iterator[tuple[Window, FieldColumns]]:
    """Yield the windows of a range with valid records, and the fields of these."""

    def read(window: Window) -> Reading[tuple[Window, FieldColumns]]:
        found, refused = fields_of(window)
        return (window, found), refused

    for found in scan_range(read_at, where, read):
        if not isinstance(found, Region) and len(found[1].ends):
            yield found


def _with_delivery_times(
    fixed: Mapping[str, Ints],
    topics: Topics,
    codes: Ints,
    split: Properties,
    delays: Delays,
) -> Ints:
    """Return *codes*, with the due time of each delayed message."""
    if _SCHEDULE_TOPIC in topics.names:
        waits = topics.numbers == topics.names.index(_SCHEDULE_TOPIC)
        record, (begins, sizes) = split.named(b"DELAY")
        stated = waits[record]
        waiting, values = record[stated], (begins[stated], sizes[stated])
        levels = np.minimum(_levels(split.text, values), max(delays, default=0))
        for level in np.unique(levels[levels > 0]).tolist():
            of_level = waiting[levels == level]
            codes[of_level] = fixed["stored_at_ms"][of_level] + delays.get(
                level, UNKNOWN_LEVEL_MS
            )
    return codes


def _levels(text: bytes, values: Places) -> Ints:
    """Return the delay level in each of *values*; 0 if it is not a number."""
    begins, sizes = values
    view = np.frombuffer(text, dtype=np.uint8)
    found = view[begins].astype(np.int64) - ord("0")
    is_digit = (sizes == 1) & (found >= 0) & (found <= 9)
    for index in np.flatnonzero(~is_digit).tolist():
        begin = int(begins[index])
        value = text[begin : begin + int(sizes[index])]
        found[index] = int(value) if _level.fullmatch(value) else 0
    return found
