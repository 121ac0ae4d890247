"""
The columns of many records at once.

A window of a commit-log file holds thousands of records. Their numbers are gathered
by numpy, by a plan derived from the layout, and their properties are split together;
the checksum and the topic are taken record by record, because each has bytes of its
own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spark_checks.sources.gather import (
    NOWHERE,
    Gathered,
    Ints,
    Places,
    gather,
    numbers_at,
)
from spark_checks.sources.log_batch import body_crcs, record_plans
from spark_checks.sources.record_flaws import flaws_of
from spark_checks.sources.record_properties import Properties, properties_of
from spark_checks.sources.record_scan import SIZE, Refused, Window
from spark_checks.sources.string_hashes import string_hashes
from spark_checks.sources.topics import Topics, topics_of
from spec.integers import tags_code

SCHEDULE_TOPIC = b"SCHEDULE_TOPIC_XXXX"
"""The topic in which delayed messages wait; their tags code is a time."""
_level = re.compile(rb"-?[0-9]{1,9}")

Delays = Mapping[int, int]
"""Milliseconds of each delay level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """Equally long columns, one entry a record."""

    fixed: Mapping[str, Ints]
    """The fixed-size fields by name, and ``position`` and ``size``."""
    topics: Topics
    tags_codes: Ints
    """The tags code that a consume queue must have, made of the properties."""
    body_crcs: Ints
    """The checksum that the body has, which ``body_crc`` of *fixed* should be."""
    flaws: Ints
    """What else is wrong with each, see :mod:`spark_checks.sources.record_flaws`."""
    properties: tuple[Ints, Ints]
    """Where the properties begin and end in the window's data."""
    split: Properties
    """The same properties, one by one."""
    born_addresses: tuple[Ints, Ints]
    """Where the producer's address begins, and how many bytes it has."""
    found: Gathered
    """All that was gathered of them."""


def read_columns(
    window: Window,
    delays: Delays,
    *,
    begun_at_ms: int | None = None,
    is_checked: bool = True,
) -> tuple[RecordColumns | None, Refused | None]:
    """Return the columns of the records of *window*, and the first that is none.

    Their file's first record was stored at *begun_at_ms*, if that can be said. What
    is not checked has neither checksums nor flaws.
    """
    starts = window.starts
    sizes = numbers_at(window.data, starts, SIZE)
    found = gather(window.data, starts, starts + sizes, record_plans)
    wrong = np.flatnonzero(found.ends != starts + sizes)
    refused = None
    if wrong.size:
        first = int(wrong[0])
        refused = _refused(
            int(starts[first]), int(sizes[first]), int(found.ends[first])
        )
        if not first:
            return None, refused
        found = found.first(first)
    fixed: dict[str, Ints] = dict(found.numbers)
    (body, body_size), (properties, properties_size) = (
        found.places[name] for name in ("body", "properties")
    )
    end = properties + properties_size
    fixed["position"] = starts[: len(body)] + window.position
    topics = topics_of(window.data, found)
    split = properties_of(window.data, properties, end)
    nothing = np.zeros(len(body), dtype=np.int64)
    crcs = body_crcs(window.data, (body, body_size)) if is_checked else nothing
    columns = RecordColumns(
        fixed=fixed,
        topics=topics,
        tags_codes=_with_delivery_times(
            fixed, topics, _tags_codes(split, len(body)), split, delays
        ),
        body_crcs=crcs,
        flaws=flaws_of(
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


def _refused(start: int, size: int, end: int) -> Refused:
    """Return why the record at *start* is none: its fields end at *end*."""
    if end == NOWHERE:
        reason = f"a field reaches past the record's {size} bytes"
    else:
        reason = f"size says {size} bytes, the fields take {end - start}"
    return Refused(start=start, reason=reason)


def _tags_codes(split: Properties, count: int) -> Ints:
    """Return the hash of the TAGS property of each of *count* records."""
    codes = np.zeros(count, dtype=np.int64)
    record, values = split.named(b"TAGS")
    left = np.ones(len(record), dtype=np.bool_)
    for index, hashes in string_hashes(split.text, values):
        codes[record[index]] = hashes.view(np.int32)
        left[index] = False
    begins, sizes = values
    for at in np.flatnonzero(left).tolist():
        begin = int(begins[at])
        tags = split.text[begin : begin + int(sizes[at])]
        codes[record[at]] = tags_code(tags.decode("utf-8", "replace"))
    return codes


def _with_delivery_times(
    fixed: Mapping[str, Ints],
    topics: Topics,
    codes: Ints,
    split: Properties,
    delays: Delays,
) -> Ints:
    """Return *codes*, with the delivery time of each message that waits for one."""
    if SCHEDULE_TOPIC in topics.names:
        waits = topics.numbers == topics.names.index(SCHEDULE_TOPIC)
        record, (begins, sizes) = split.named(b"DELAY")
        stated = waits[record]
        waiting, values = record[stated], (begins[stated], sizes[stated])
        levels = np.minimum(_levels(split.text, values), max(delays, default=0))
        for level in np.unique(levels[levels > 0]).tolist():
            of_level = waiting[levels == level]
            codes[of_level] = fixed["stored_at_ms"][of_level] + delays.get(level, 1000)
    return codes


def _levels(text: bytes, values: Places) -> Ints:
    """Return the delay level that each of *values* is; 0 where one is none."""
    begins, sizes = values
    view = np.frombuffer(text, dtype=np.uint8)
    found = view[begins].astype(np.int64) - ord("0")
    plain = (sizes == 1) & (found >= 0) & (found <= 9)
    for index in np.flatnonzero(~plain).tolist():
        begin = int(begins[index])
        value = text[begin : begin + int(sizes[index])]
        found[index] = int(value) if _level.fullmatch(value) else 0
    return found
