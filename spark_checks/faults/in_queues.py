"""
Faults of several units or extension units, and of files of queues.
"""

from __future__ import annotations

import shutil

from spark_checks.faults.fault import FaultList, Found, at, at_unit
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.queue_extension import EXTENSION

QUEUE_FAULTS, RICH_FAULTS = FaultList("queues"), FaultList("rich")
_LMQ_UNIT = "lmq_unit_0"


def _erased(site: Site, units: slice) -> Found:
    """Write zeros over *units* of a queue, which are one finding at the first."""
    erased = site.take_queue()[units]
    for hit in erased:
        site.overwrite(hit.unit_place, bytes(UNIT_SIZE))
    return [at_unit("INV-CQ-005", erased[0])]


QUEUE_FAULTS.add(
    "units-zeros",
    "a run of units of zeros",
    lambda site: _erased(site, slice(10, 14)),
)
QUEUE_FAULTS.add(
    "unit-last-missing", "no last unit", lambda site: _erased(site, slice(-1, None))
)
QUEUE_FAULTS.add(
    "unit-first-missing", "no first unit", lambda site: _erased(site, slice(1))
)


@QUEUE_FAULTS.planting("units-swapped", "two units swapped")
def _swapped(site: Site) -> Found:
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


@QUEUE_FAULTS.planting("unit-too-many", "a unit behind the last")
def _too_many(site: Site) -> Found:
    file, position = site.take_queue()[-1].unit_place
    unit = Unit(commit_log_offset=1 << 40, size=100, tags_code=0)
    site.overwrite((file, position + UNIT_SIZE), encode_unit(unit))
    return [at("INV-CQ-001", (file, position + UNIT_SIZE))]


@QUEUE_FAULTS.planting("queue-first-file", "no first file")
def _no_first_file(site: Site) -> Found:
    queue = site.take_queue()
    (site.root / queue[0].unit_place[0]).unlink()
    return [at_unit("INV-CQ-005", queue[0])]


@QUEUE_FAULTS.planting("queue-middle-file", "no second file")
def _no_middle_file(site: Site) -> Found:
    hit = site.take_queue()[site.plan.queue_units]
    (site.root / hit.unit_place[0]).unlink()
    return [at("INV-FILE-003", (hit.unit_place[0], 0)), at_unit("INV-CQ-005", hit)]


@QUEUE_FAULTS.planting("queue-missing", "no queue")
def _no_queue(site: Site) -> Found:
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


QUEUE_FAULTS.add(
    "queue-file-short",
    "a file with too few units",
    lambda site: _cut(site, 30, "INV-FILE-002"),
)
QUEUE_FAULTS.add(
    "queue-file-part-of-unit",
    "a file that ends inside a unit",
    lambda site: _cut(site, 30.5, "INV-FILE-004"),
)


@QUEUE_FAULTS.planting("queue-file-foreign", "a file of a tool")
def _foreign_file(site: Site) -> Found:
    name = f"{site.take_queue()[0].unit_place[0]}.tmp"
    (site.root / name).write_bytes(b"")
    return [at("INV-FILE-001", (name, 0))]


@RICH_FAULTS.planting("extension-missing", "no extension")
def _no_extension(site: Site) -> Found:
    queue = site.take_queue()
    topic, queue_id = queue[0].queue
    shutil.rmtree(site.root / EXTENSION / topic / str(queue_id))
    return [at_unit("INV-EXT-001", message) for message in queue]


@RICH_FAULTS.planting("lmq-units-swapped", "two units of an LMQ swapped")
def _lmq_swapped(site: Site) -> Found:
    one, other = site.take(Kind.LMQ), site.take(Kind.LMQ)
    return _exchanged(site, "INV-LIGHT-002", _LMQ_UNIT, one, other)


@RICH_FAULTS.planting("lmq-unit-foreign", "a message not named")
def _lmq_of_other_topic(site: Site) -> Found:
    """Give an LMQ's unit the offset and size of another message."""
    place = site.take(Kind.LMQ).entries[_LMQ_UNIT].place
    unit = site.take().entries["consume_queue_unit"].data
    site.overwrite(place, unit[:-8])  # without its tags code
    return [at("INV-LIGHT-001", place)]
