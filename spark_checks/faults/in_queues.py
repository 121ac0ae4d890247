"""
Faults of several units, and of files of consume queues.
"""

from __future__ import annotations

import shutil

from spark_checks.faults.fault import FaultList, Found, at, at_unit
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit

QUEUE_FAULTS = FaultList("queues")


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
    one = site.take()
    other = site.after(one)
    return [*_pointed(site, one, other), *_pointed(site, other, one)]


@QUEUE_FAULTS.planting("unit-twice", "a message twice")
def _twice(site: Site) -> Found:
    one = site.take()
    return _pointed(site, site.after(one), one)


@QUEUE_FAULTS.planting("unit-of-other-queue", "a message of another queue")
def _of_other_queue(site: Site) -> Found:
    hit = site.take()
    other = next(m for m in site.round(site.next_round) if m.queue != hit.queue)
    return _pointed(site, hit, other)


def _pointed(site: Site, place: Placed, taken: Placed) -> Found:
    """Make the unit of *place* point at the record of *taken*."""
    site.overwrite(place.unit_place, taken.entries["consume_queue_unit"].data)
    return [at_unit("INV-CQ-004", place)]


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
