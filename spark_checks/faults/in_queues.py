"""Faults of several units or extension units, and of files of queues."""

from __future__ import annotations

import shutil
from functools import partial

from spark_checks.faults.fault import Found, at, at_unit
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.queue_extension import EXTENSION

_LMQ_UNIT = "lmq_unit_0"


def _erased(site: Site, units: slice) -> Found:
    """Write zeros over *units* of a queue, which are one finding at the first."""
    erased = site.take_queue()[units]
    for hit in erased:
        site.overwrite(hit.unit_place, bytes(UNIT_SIZE))
    return [at_unit("INV-CQ-005", erased[0])]


units_zeros = partial(_erased, units=slice(10, 14))
unit_last_missing = partial(_erased, units=slice(-1, None))
unit_first_missing = partial(_erased, units=slice(1))


def units_swapped(site: Site) -> Found:
    """Exchange the units of a message and the next one."""
    first = site.take()
    return _exchanged(
        site, "INV-CQ-004", "consume_queue_unit", first, site.after(first)
    )


def _exchanged(
    site: Site, finding: str, structure: str, one: Placed, other: Placed
) -> Found:
    """Exchange a *structure* of two messages."""
    entries = one.entries[structure], other.entries[structure]
    for entry, taken in (entries, reversed(entries)):
        site.overwrite(entry.place, taken.data)
    return [at(finding, entry.place) for entry in entries]


def unit_too_many(site: Site) -> Found:
    """Write a unit behind the last one of a queue."""
    file, position = site.take_queue()[-1].unit_place
    unit = Unit(commit_log_offset=1 << 40, size=100, tags_code=0)
    site.overwrite((file, position + UNIT_SIZE), encode_unit(unit))
    return [at("INV-CQ-001", (file, position + UNIT_SIZE))]


def queue_first_file(site: Site) -> Found:
    """Delete the first file of a queue."""
    queue = site.take_queue()
    (site.root / queue[0].unit_place[0]).unlink()
    return [at_unit("INV-CQ-005", queue[0])]


def queue_middle_file(site: Site) -> Found:
    """Delete the second file of a queue."""
    hit = site.take_queue()[site.plan.queue_units]
    (site.root / hit.unit_place[0]).unlink()
    return [at("INV-FILE-003", (hit.unit_place[0], 0)), at_unit("INV-CQ-005", hit)]


def queue_missing(site: Site) -> Found:
    """Remove a queue: its units are missing from the begin of each file."""
    queue = site.take_queue()
    shutil.rmtree((site.root / queue[0].unit_place[0]).parent)
    firsts = {m.unit_place[0]: m for m in reversed(queue)}
    return [at_unit("INV-CQ-005", firsts[file]) for file in sorted(firsts)]


def _cut(site: Site, units: float, finding: str) -> Found:
    """Cut the first file of a queue behind some *units*."""
    queue = site.take_queue()
    place = queue[0].unit_place[0], int(units * UNIT_SIZE)
    site.cut(*place)
    return [at(finding, place), at_unit("INV-CQ-005", queue[int(units)])]


queue_file_short = partial(_cut, units=30, finding="INV-FILE-002")
queue_file_part_of_unit = partial(_cut, units=30.5, finding="INV-FILE-004")


def queue_file_foreign(site: Site) -> Found:
    """Create a file beside those of a queue."""
    name = f"{site.take_queue()[0].unit_place[0]}.tmp"
    (site.root / name).write_bytes(b"")
    return [at("INV-FILE-001", (name, 0))]


def extension_missing(site: Site) -> Found:
    """Delete the extension of a queue."""
    queue = site.take_queue()
    topic, queue_id = queue[0].queue
    shutil.rmtree(site.root / EXTENSION / topic / str(queue_id))
    return [at_unit("INV-EXT-001", message) for message in queue]


def lmq_units_swapped(site: Site) -> Found:
    """Exchange the units of two messages in an LMQ."""
    one, other = site.take(Kind.LMQ), site.take(Kind.LMQ)
    return _exchanged(site, "INV-LIGHT-002", _LMQ_UNIT, one, other)


def lmq_unit_foreign(site: Site) -> Found:
    """Give an LMQ's unit the offset and size of another message."""
    place = site.take(Kind.LMQ).entries[_LMQ_UNIT].place
    unit = site.take().entries["consume_queue_unit"].data
    site.overwrite(place, unit[:-8])  # without its tags code
    return [at("INV-LIGHT-001", place)]
