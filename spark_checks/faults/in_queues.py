"""
Faults in consume queues.
"""

from __future__ import annotations

import shutil
from functools import partial

from spark_checks.faults.fault import Site, at, at_unit
from spark_checks.faults.fault_list import FaultList, Found, unit_place
from spark_checks.generate.encoding import tags_code_of
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit

QUEUE_FAULTS = FaultList()
_flip = partial(QUEUE_FAULTS.flip, place=unit_place)

_flip("unit-offset-inside", "an offset inside a record", "INV-CQ-001", 7)
_flip("unit-offset-past-log", "an offset past the log", "INV-CQ-001", 2)
_flip("unit-offset-negative", "a negative offset", "INV-CQ-001", 0, bits=0x80)
_flip("unit-size", "another size", "INV-CQ-002", 11)
_flip("unit-size-negative", "a negative size", "INV-CQ-002", 8, bits=0x80)
_flip("unit-tags-code", "another tags code", "INV-CQ-003", 19)


def _erased(site: Site, *messages: Placed) -> Found:
    """Write zeros over units, which are one finding at the first."""
    for hit in messages:
        site.overwrite(hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return [at_unit("INV-CQ-005", messages[0])]


def _point(site: Site, place: Placed, taken: Placed) -> None:
    """Make the unit of *place* point at the record of *taken*."""
    site.overwrite(place.queue_file, place.unit_position, taken.unit)


QUEUE_FAULTS.add(
    "unit-zeros", "a unit of zeros", lambda site: _erased(site, site.take())
)
QUEUE_FAULTS.add(
    "units-zeros",
    "a run of units of zeros",
    lambda site: _erased(site, *site.take_queue()[10:14]),
)
QUEUE_FAULTS.add(
    "unit-last-missing",
    "no last unit",
    lambda site: _erased(site, site.take_queue()[-1]),
)
QUEUE_FAULTS.add(
    "unit-first-missing",
    "no first unit",
    lambda site: _erased(site, site.take_queue()[0]),
)


@QUEUE_FAULTS.planting("units-swapped", "two units swapped")
def _swapped(site: Site) -> Found:
    one = site.take()
    other = site.after(one)
    _point(site, one, other)
    _point(site, other, one)
    return [at_unit("INV-CQ-004", one), at_unit("INV-CQ-004", other)]


@QUEUE_FAULTS.planting("unit-twice", "a message twice")
def _twice(site: Site) -> Found:
    one = site.take()
    other = site.after(one)
    _point(site, other, one)
    return [at_unit("INV-CQ-004", other)]


@QUEUE_FAULTS.planting("unit-of-other-queue", "a message of another queue")
def _of_other_queue(site: Site) -> Found:
    hit = site.take()
    other = next(m for m in site.round(site.next_round) if m.queue != hit.queue)
    _point(site, hit, other)
    return [at_unit("INV-CQ-004", hit)]


@QUEUE_FAULTS.planting("unit-too-many", "a unit behind the last")
def _too_many(site: Site) -> Found:
    last = site.take_queue()[-1]
    offset = last.unit_position + UNIT_SIZE
    unit = Unit(commit_log_offset=1 << 40, size=100, tags_code=0)
    site.overwrite(last.queue_file, offset, encode_unit(unit))
    return [at("INV-CQ-001", last.queue_file, offset)]


@QUEUE_FAULTS.planting("unit-delivery-time", "another time of delivery")
def _delivery_time(site: Site) -> Found:
    hit = site.take(Kind.DELAYED)
    code = tags_code_of(hit.record) + 777
    unit = Unit(commit_log_offset=hit.offset, size=hit.size, tags_code=code)
    site.overwrite(hit.queue_file, hit.unit_position, encode_unit(unit))
    return [at_unit("INV-CQ-003", hit)]


@QUEUE_FAULTS.planting("queue-first-file", "no first file")
def _no_first_file(site: Site) -> Found:
    queue = site.take_queue()
    (site.root / queue[0].queue_file).unlink()
    return [at_unit("INV-CQ-005", queue[0])]


@QUEUE_FAULTS.planting("queue-middle-file", "no second file")
def _no_middle_file(site: Site) -> Found:
    queue = site.take_queue()
    hit = queue[site.plan.queue_units]
    (site.root / hit.queue_file).unlink()
    return [at("INV-FILE-003", hit.queue_file, 0), at_unit("INV-CQ-005", hit)]


@QUEUE_FAULTS.planting("queue-missing", "no queue")
def _no_queue(site: Site) -> Found:
    """Remove a queue: its units are missing from the begin of each file."""
    queue = site.take_queue()
    shutil.rmtree((site.root / queue[0].queue_file).parent)
    firsts = {m.queue_file: m for m in reversed(queue)}
    return [at_unit("INV-CQ-005", firsts[file]) for file in sorted(firsts)]


def _cut(site: Site, units: float, finding: str) -> Found:
    """Cut the first file of a queue behind some *units*."""
    queue = site.take_queue()
    size = int(units * UNIT_SIZE)
    site.cut(queue[0].queue_file, size)
    cut = at(finding, queue[0].queue_file, size)
    return [cut, at_unit("INV-CQ-005", queue[int(units)])]


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
    name = f"{site.take_queue()[0].queue_file}.tmp"
    (site.root / name).write_bytes(b"")
    return [at("INV-FILE-001", name, 0)]
