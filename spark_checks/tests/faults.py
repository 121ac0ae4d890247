"""
Faults that are seeded into a built store, each with what an audit must say of it.

Every fault has a topic for itself, so that one audit can look for many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_checks.tests.building import Placed, StoreBuilder, flip, overwrite
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit

Where = tuple[str, str, int]
"""Invariant, file, and offset in the file."""
Seed = Callable[[Path, Sequence[Placed]], list[Where]]
"""Damages the messages of one topic and returns what must be found."""
HIT = 7
"""Which message of a topic a fault hits."""
RECORD_FAULTS: dict[str, Seed] = {}
QUEUE_FAULTS: dict[str, Seed] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """A store with faults, and where each must be found."""

    root: Path
    expected: dict[str, list[Where]]


def seed_all(root: Path, faults: dict[str, Seed]) -> Seeded:
    """Build a store below *root*, with a topic for every fault, and damage it."""
    builder = StoreBuilder()
    topics = {f"Topic{number:02d}": name for number, name in enumerate(faults)}
    for _ in range(25):
        for topic in topics:
            builder.put(topic, tags="TagA")
            builder.put("Sound")  # damaged neighbours would be one damaged region
    builder.write(root)
    expected = {
        name: faults[name](root, builder.placed[topic, 0])
        for topic, name in topics.items()
    }
    return Seeded(root=root, expected=expected)


def _record_fault(name: str, at: int, invariant: str, bits: int = 1) -> None:
    """Add a fault that flips a bit *at* a byte of a record."""

    def seed(root: Path, placed: Sequence[Placed]) -> list[Where]:
        hit = placed[HIT]
        flip(
            root, hit.log_file, hit.position + (at if at >= 0 else hit.size + at), bits
        )
        if invariant.startswith("INV-CQ"):
            return [(invariant, hit.queue_file, hit.unit_position)]
        return [(invariant, hit.log_file, hit.position)]

    RECORD_FAULTS[name] = seed


_record_fault("a size too large", 3, "INV-LOG-001")
_record_fault("a huge size", 0, "INV-LOG-001", bits=0x40)
_record_fault("another magic", 6, "INV-LOG-001")
_record_fault("another checksum", 11, "INV-LOG-002")
_record_fault("another queue id", 15, "INV-CQ-004")
_record_fault("another queue offset", 27, "INV-LOG-005")
_record_fault("another physical offset", 34, "INV-LOG-003", bits=0x80)
_record_fault("a body of another size", 87, "INV-LOG-001")
_record_fault("a body of negative size", 84, "INV-LOG-001", bits=0x80)
_record_fault("another body", 90, "INV-LOG-002")
_record_fault("another topic", 88 + 40 + 1 + 6, "INV-CQ-004", bits=0x08)
_record_fault("a topic of another size", 88 + 40, "INV-LOG-001")
_record_fault("properties of another size", -12, "INV-LOG-001")
_record_fault("another tag", -2, "INV-CQ-003")


def _zeroed_record(root: Path, placed: Sequence[Placed]) -> list[Where]:
    hit = placed[HIT]
    overwrite(root, hit.log_file, hit.position, bytes(hit.size))
    return [
        ("INV-LOG-001", hit.log_file, hit.position),
        ("INV-CQ-001", hit.queue_file, hit.unit_position),
    ]


RECORD_FAULTS["a record of zeros"] = _zeroed_record


def _unit_fault(name: str, at: int, invariant: str, bits: int = 1) -> None:
    """Add a fault that flips a bit *at* a byte of a unit."""

    def seed(root: Path, placed: Sequence[Placed]) -> list[Where]:
        hit = placed[HIT]
        flip(root, hit.queue_file, hit.unit_position + at, bits)
        return [(invariant, hit.queue_file, hit.unit_position)]

    QUEUE_FAULTS[name] = seed


_unit_fault("an offset inside a record", 7, "INV-CQ-001")
_unit_fault("an offset past the log", 2, "INV-CQ-001")
_unit_fault("a negative offset", 0, "INV-CQ-001", bits=0x80)
_unit_fault("another size", 11, "INV-CQ-002")
_unit_fault("another tags code", 19, "INV-CQ-003")


def _queue_fault(name: str) -> Callable[[Seed], Seed]:
    def add(seed: Seed) -> Seed:
        QUEUE_FAULTS[name] = seed
        return seed

    return add


@_queue_fault("a unit of zeros")
def _zeroed_unit(root: Path, placed: Sequence[Placed]) -> list[Where]:
    hit = placed[HIT]
    overwrite(root, hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return [("INV-CQ-005", hit.queue_file, hit.unit_position)]


@_queue_fault("no last unit")
def _no_last_unit(root: Path, placed: Sequence[Placed]) -> list[Where]:
    hit = placed[-1]
    overwrite(root, hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    return [("INV-CQ-005", hit.queue_file, hit.unit_position)]


@_queue_fault("no first file")
def _no_first_file(root: Path, placed: Sequence[Placed]) -> list[Where]:
    (root / placed[0].queue_file).unlink()
    return [("INV-CQ-005", placed[0].queue_file, 0)]


@_queue_fault("two units swapped")
def _swapped_units(root: Path, placed: Sequence[Placed]) -> list[Where]:
    one, other = placed[HIT], placed[HIT + 1]
    for place, taken in ((one, other), (other, one)):
        _point(root, place, taken)
    return [
        ("INV-CQ-004", place.queue_file, place.unit_position) for place in (one, other)
    ]


@_queue_fault("a message twice")
def _unit_twice(root: Path, placed: Sequence[Placed]) -> list[Where]:
    _point(root, placed[HIT], placed[0])
    return [("INV-CQ-004", placed[HIT].queue_file, placed[HIT].unit_position)]


@_queue_fault("a unit too many")
def _unit_too_many(root: Path, placed: Sequence[Placed]) -> list[Where]:
    last = placed[-1]
    unit = Unit(commit_log_offset=1 << 40, size=100, tags_code=0)
    position = last.unit_position + UNIT_SIZE
    overwrite(root, last.queue_file, position, encode_unit(unit))
    return [("INV-CQ-001", last.queue_file, position)]


def _point(root: Path, place: Placed, taken: Placed) -> None:
    """Make the unit of *place* point at the record of *taken*."""
    unit = Unit(commit_log_offset=taken.offset, size=taken.size, tags_code=TAG_A_CODE)
    overwrite(root, place.queue_file, place.unit_position, encode_unit(unit))


TAG_A_CODE = 2598919
"""Java's hash of TagA."""
