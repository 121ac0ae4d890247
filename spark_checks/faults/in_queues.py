"""
Faults in consume queues.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from spark_checks.faults.fault import Expected, Fault, Site, at_unit
from spark_checks.generate.encoding import tags_code_of
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit

Found = tuple[Expected, Sequence[Expected]]


def _flipping(
    kind: str, description: str, at: int, finding: str, bits: int = 1
) -> Fault:
    """Return a fault that flips *bits* of a byte of a unit."""

    def plant(site: Site) -> Found:
        hit = site.take()
        site.flip(hit.queue_file, hit.unit_position + at, bits)
        return at_unit(finding, hit), ()

    return Fault(kind=kind, description=description, plant=plant)


def _point(site: Site, place: Placed, taken: Placed) -> None:
    """Make the unit of *place* point at the record of *taken*."""
    site.overwrite(place.queue_file, place.unit_position, taken.unit)


def _zero_unit(site: Site) -> Found:
    hit = site.take()
    site.overwrite(hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return at_unit("INV-CQ-005", hit), ()


def _zero_units(site: Site) -> Found:
    """Write zeros over a run of units, which is one finding at the first."""
    run = site.take_queue()[10:14]
    for hit in run:
        site.overwrite(hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return at_unit("INV-CQ-005", run[0]), ()


def _no_last_unit(site: Site) -> Found:
    hit = site.take_queue()[-1]
    site.overwrite(hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return at_unit("INV-CQ-005", hit), ()


def _no_first_unit(site: Site) -> Found:
    hit = site.take_queue()[0]
    site.overwrite(hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return at_unit("INV-CQ-005", hit), ()


def _swapped(site: Site) -> Found:
    one = site.take()
    other = site.after(one)
    _point(site, one, other)
    _point(site, other, one)
    return at_unit("INV-CQ-004", one), [at_unit("INV-CQ-004", other)]


def _twice(site: Site) -> Found:
    one = site.take()
    other = site.after(one)
    _point(site, other, one)
    return at_unit("INV-CQ-004", other), ()


def _of_other_queue(site: Site) -> Found:
    hit = site.take()
    other = next(m for m in site.round(site.next_round) if m.queue != hit.queue)
    _point(site, hit, other)
    return at_unit("INV-CQ-004", hit), ()


def _too_many(site: Site) -> Found:
    last = site.take_queue()[-1]
    offset = last.unit_position + UNIT_SIZE
    unit = Unit(commit_log_offset=1 << 40, size=100, tags_code=0)
    site.overwrite(last.queue_file, offset, encode_unit(unit))
    return Expected(finding="INV-CQ-001", file=last.queue_file, offset=offset), ()


def _delivery_time(site: Site) -> Found:
    hit = site.take(Kind.DELAYED)
    unit = Unit(
        commit_log_offset=hit.offset,
        size=hit.size,
        tags_code=tags_code_of(hit.record) + 777,
    )
    site.overwrite(hit.queue_file, hit.unit_position, encode_unit(unit))
    return at_unit("INV-CQ-003", hit), ()


def _first_units(queue: Sequence[Placed]) -> list[Expected]:
    """Return a finding of missing units at the beginning of each file."""
    firsts = {m.queue_file: m for m in reversed(queue)}
    return [at_unit("INV-CQ-005", firsts[file]) for file in sorted(firsts)]


def _no_first_file(site: Site) -> Found:
    queue = site.take_queue()
    (site.root / queue[0].queue_file).unlink()
    return at_unit("INV-CQ-005", queue[0]), ()


def _no_middle_file(site: Site) -> Found:
    queue = site.take_queue()
    hit = queue[site.plan.queue_units]
    (site.root / hit.queue_file).unlink()
    missing = Expected(finding="INV-FILE-003", file=hit.queue_file, offset=0)
    return missing, [at_unit("INV-CQ-005", hit)]


def _no_queue(site: Site) -> Found:
    queue = site.take_queue()
    shutil.rmtree((site.root / queue[0].queue_file).parent)
    first, *more = _first_units(queue)
    return first, more


def _cut_to(units: float, finding: str) -> Callable[[Site], Found]:
    def plant(site: Site) -> Found:
        queue = site.take_queue()
        size = int(units * UNIT_SIZE)
        site.cut(queue[0].queue_file, size)
        cut = Expected(finding=finding, file=queue[0].queue_file, offset=size)
        return cut, [at_unit("INV-CQ-005", queue[int(units)])]

    return plant


def _foreign_file(site: Site) -> Found:
    name = f"{site.take_queue()[0].queue_file}.tmp"
    (site.root / name).write_bytes(b"")
    return Expected(finding="INV-FILE-001", file=name, offset=0), ()


QUEUE_FAULTS: tuple[Fault, ...] = (
    _flipping("unit-offset-inside", "an offset inside a record", 7, "INV-CQ-001"),
    _flipping("unit-offset-past-log", "an offset past the log", 2, "INV-CQ-001"),
    _flipping("unit-offset-negative", "a negative offset", 0, "INV-CQ-001", 0x80),
    _flipping("unit-size", "another size", 11, "INV-CQ-002"),
    _flipping("unit-size-negative", "a negative size", 8, "INV-CQ-002", 0x80),
    _flipping("unit-tags-code", "another tags code", 19, "INV-CQ-003"),
    Fault(kind="unit-zeros", description="a unit of zeros", plant=_zero_unit),
    Fault(kind="units-zeros", description="a run of units of zeros", plant=_zero_units),
    Fault(kind="unit-last-missing", description="no last unit", plant=_no_last_unit),
    Fault(kind="unit-first-missing", description="no first unit", plant=_no_first_unit),
    Fault(kind="units-swapped", description="two units swapped", plant=_swapped),
    Fault(kind="unit-twice", description="a message twice", plant=_twice),
    Fault(
        kind="unit-of-other-queue",
        description="a message of another queue",
        plant=_of_other_queue,
    ),
    Fault(kind="unit-too-many", description="a unit behind the last", plant=_too_many),
    Fault(
        kind="unit-delivery-time",
        description="another time of delivery",
        plant=_delivery_time,
    ),
    Fault(kind="queue-first-file", description="no first file", plant=_no_first_file),
    Fault(
        kind="queue-middle-file", description="no second file", plant=_no_middle_file
    ),
    Fault(kind="queue-missing", description="no queue", plant=_no_queue),
    Fault(
        kind="queue-file-short",
        description="a file with too few units",
        plant=_cut_to(30, "INV-FILE-002"),
    ),
    Fault(
        kind="queue-file-part-of-unit",
        description="a file that ends inside a unit",
        plant=_cut_to(30.5, "INV-FILE-004"),
    ),
    Fault(
        kind="queue-file-foreign", description="a file of a tool", plant=_foreign_file
    ),
)
