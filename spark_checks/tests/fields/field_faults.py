"""
Wrong values of single fields, planted into a copy of a small store.

Every field of every structure gets every kind of wrong value, at the first, a middle
and the last place. A sheet is a set of faults that do not disturb each other, so that
one audit finds all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spark_checks.counting_rules import TRANSACTION_BITS
from spark_checks.faults.fault import Expected
from spark_checks.faults.field_spans import FieldSpan
from spark_checks.tests.fields.field_places import (
    STRUCTURES,
    PlacedStructure,
    field_names,
    structures_of,
)
from spark_checks.tests.fields.field_table import Wrong
from spark_checks.tests.fields.planted_fields import FieldFault, PlantedField, Position
from spec.store.consume_queue import UNIT_SIZE, decode_unit
from spec.store.index_file import decode_item, slot_count_of, slot_position
from spec.store.message_record import Record, decode_record
from spec.store.queue_extension import EXTENSION, offset_of_address
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

Claim = tuple[object, ...]
"""A place that one fault of a sheet may touch."""

OF_MESSAGES = ("message_record", "consume_queue_unit")
_FOUND_BY_FIELD = frozenset({"index_header", "checkpoint", "timer_checkpoint"})
"""Structures whose findings are at the wrong field, and not at their begin."""
_UNSIGNED = frozenset({"magic"})
_OF_BROKER = ("RMQ_SYS_", "rmq_sys_", "SCHEDULE_TOPIC_XXXX", "%")
"""Begins of topics whose messages are copies of others."""
_OF_DELAYS = f"{EXTENSION}/{SCHEDULE_TOPIC}/"
"""Extensions with due times, which depend on the configured delays."""
_SHARE = 4
"""This part of the structures of a file counts as first, and as last."""
_APART = 2
"""Queue offsets between two faults of one sheet in one queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """A structure that may take a fault."""

    placed: PlacedStructure
    neighbour: PlacedStructure | None
    claims: frozenset[Claim]
    unit: PlacedStructure | None = None
    """The consume-queue unit that belongs to it."""


class FaultSites:
    """Structures of a small store that may take faults, by name and position."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._of: dict[str, list[PlacedStructure]] = defaultdict(list)
        for one in structures_of(root):
            self._of[one.name].append(one)
        self._records = [
            decode_record(one.data, check_crc=False)
            for one in self._of["message_record"]
        ]
        self._keys = Counter(map(_unique_key, self._records))
        self._numbers = {
            record.physical_offset: number
            for number, record in enumerate(self._records)
        }
        self._units = {
            _place_of_unit(one): one for one in self._of["consume_queue_unit"]
        }
        self._sites: dict[tuple[str, Position], list[_Site]] = defaultdict(list)
        self._add_messages()
        self._add_others()

    def faults(self, structures: Iterable[str]) -> Iterator[FieldFault]:
        """Yield every fault of *structures* for which the store has a place."""
        for name in structures:
            for field in field_names(STRUCTURES[name]):
                for wrong in Wrong:
                    for position in Position:
                        fault = FieldFault(
                            structure=name, field=field, wrong=wrong, position=position
                        )
                        if any(True for _ in self._placements(fault)):
                            yield fault

    def sheets(self, faults: Iterable[FieldFault]) -> Iterator[list[PlantedField]]:
        """Yield *faults* as sheets: each fault is in one, at places of its own."""
        left = list(faults)
        while left:
            taken: set[Claim] = set()
            sheet, later = [], []
            for fault in left:
                found = self._free_placement(fault, taken)
                if found is None:
                    later.append(fault)
                else:
                    sheet.append(found)
            yield sheet
            left = later

    def _free_placement(
        self, fault: FieldFault, taken: set[Claim]
    ) -> PlantedField | None:
        """Return a place for *fault* that is not among *taken*, and add it to them."""
        for planted, claims in self._placements(fault):
            if not claims & taken:
                taken |= claims
                return planted
        return None

    def _placements(
        self, fault: FieldFault
    ) -> Iterator[tuple[PlantedField, frozenset[Claim]]]:
        """Yield the possible places of *fault*, each with its claims."""
        for site in self._sites[fault.structure, fault.position]:
            placed, near = site.placed, site.neighbour
            span = placed.fields().get(fault.field)
            if span is None:
                continue
            other = near.fields().get(fault.field) if near else None
            data = wrong_value(
                placed.bytes_of(span),
                fault.wrong,
                is_number=span.is_number,
                is_signed=fault.field not in _UNSIGNED,
                neighbour=near.bytes_of(other) if near and other else None,
            )
            if data is None:
                continue
            planted = PlantedField(
                fault=fault,
                file=placed.file,
                offset=placed.offset + span.begin,
                data=data,
                right=placed.bytes_of(span),
                expected=_expected(fault, site, span),
            )
            yield planted, site.claims | self._more_claims(fault, placed, data)

    def _add_messages(self) -> None:
        """Add the records of ordinary topics that have a unit, and these units."""
        queues: dict[tuple[str, int], list[int]] = defaultdict(list)
        for number, record in enumerate(self._records):
            queues[record.topic, record.queue_id].append(number)
        for numbers in queues.values():
            if all(self._is_ordinary(number) for number in numbers):
                for position, some in _by_position(numbers):
                    for number in some:
                        after = numbers.index(number) + 1
                        near = (
                            numbers[after] if after < len(numbers) else numbers[-2:][0]
                        )
                        self._add_message(position, number, near)

    def _is_ordinary(self, number: int) -> bool:
        """Return whether no other record repeats a record, and it has a unit."""
        record = self._records[number]
        place = record.topic, record.queue_id, record.queue_offset
        return (
            place in self._units
            and not record.topic.startswith(_OF_BROKER)
            and not record.system_flags & TRANSACTION_BITS
            and self._keys[_unique_key(record)] <= 1
        )

    def _add_message(self, position: Position, number: int, near: int) -> None:
        """Add a record without flags and its unit; *near* is a neighbour's number."""
        record = self._records[number]
        if record.system_flags:
            return
        topic, queue_id, at = record.topic, record.queue_id, record.queue_offset
        unit = self._units[topic, queue_id, at]
        claims = {("log", number + by) for by in (-1, 0, 1)} | {
            ("queue", topic, queue_id, at + by) for by in range(-_APART, _APART + 1)
        }
        of_log = self._of["message_record"]
        beside = self._units[topic, queue_id, self._records[near].queue_offset]
        for placed, other in ((of_log[number], of_log[near]), (unit, beside)):
            site = _Site(
                placed=placed, neighbour=other, unit=unit, claims=frozenset(claims)
            )
            self._sites[placed.name, position].append(site)

    def _add_others(self) -> None:
        """Add all other structures, by position in their file."""
        for name, structures in self._of.items():
            if name in OF_MESSAGES:
                continue
            files: dict[str, list[int]] = defaultdict(list)
            for number, one in enumerate(structures):
                files[one.file].append(number)
            for file, numbers in files.items():
                if file.startswith(_OF_DELAYS):
                    continue
                inner = self._without_ends(structures, numbers)
                for position, some in _by_position(inner, share=_SHARE):
                    for number in some:
                        site = self._site_of(structures, number)
                        self._sites[name, position].append(site)

    def _without_ends(
        self, structures: Sequence[PlacedStructure], numbers: Sequence[int]
    ) -> Sequence[int]:
        """Return *numbers* without the first and the last item of an index file.

        Their record may have keys in another file, and the header repeats their values.
        """
        if structures[numbers[0]].name != "index_item":
            return numbers
        offsets = {
            number: decode_item(structures[number].data).commit_log_offset
            for number in numbers
        }
        ends = offsets[numbers[0]], offsets[numbers[-1]]
        return [number for number in numbers if offsets[number] not in ends]

    def _site_of(self, structures: Sequence[PlacedStructure], number: int) -> _Site:
        placed = structures[number]
        claims: set[Claim] = {(placed.name, number)}
        if placed.name.startswith("timer_"):
            claims.add(("timer",))  # its files repeat each other's values
        if placed.name == "consume_queue_extension_unit":
            claims.add(("extension", placed.file))  # a wrong size hides later units
        if placed.name == "index_item":
            item = decode_item(placed.data)
            claims |= {
                *((placed.name, number + by) for by in (-1, 1)),
                ("log", self._numbers.get(item.commit_log_offset, -1)),
                self._slot_of(placed.file, item.key_hash),
            }
        if placed.name == "index_slot":
            claims.add(("slot", placed.file, placed.offset))
        return _Site(
            placed=placed,
            neighbour=_neighbour(structures, number, self._keys_in_index),
            unit=self._unit_with_address(placed),
            claims=frozenset(claims),
        )

    def _slot_of(self, file: str, key_hash: int) -> Claim:
        return "slot", file, slot_position(key_hash, self._slot_counts[file])

    @cached_property
    def _keys_in_index(self) -> Set[tuple[int, int]]:
        """Commit-log offsets and key hashes of all index items."""
        items = (decode_item(one.data) for one in self._of.get("index_item", ()))
        return {(item.commit_log_offset, item.key_hash) for item in items}

    @cached_property
    def _slot_counts(self) -> Mapping[str, int]:
        """Number of slots of each index file."""
        return {
            one.file: slot_count_of((self._root / one.file).stat().st_size)
            for one in self._of["index_header"]
        }

    def _unit_with_address(self, placed: PlacedStructure) -> PlacedStructure | None:
        """Return the unit that has the address of an extension unit, or None."""
        if placed.name != "consume_queue_extension_unit":
            return None
        _, topic, queue_id, base = placed.file.split("/")
        return self._addresses.get((topic, int(queue_id), int(base) + placed.offset))

    @cached_property
    def _addresses(self) -> Mapping[tuple[str, int, int], PlacedStructure]:
        """Consume-queue units by topic, queue id and offset of their extension unit."""
        found = {}
        for (topic, queue_id, _), one in self._units.items():
            unit = decode_unit(one.data)
            if unit.is_extended:
                offset = offset_of_address(unit.tags_code)
                found[topic, queue_id, offset] = one
        return found

    def _more_claims(
        self, fault: FieldFault, placed: PlacedStructure, data: bytes
    ) -> frozenset[Claim]:
        """Return the claims of the value *data*: another hash is in another slot."""
        if (fault.structure, fault.field) != ("index_item", "key_hash"):
            return frozenset()
        key_hash = int.from_bytes(data, "big", signed=True)
        return frozenset({self._slot_of(placed.file, key_hash)})


def wrong_value(
    right: bytes,
    wrong: Wrong,
    *,
    is_number: bool,
    is_signed: bool,
    neighbour: bytes | None,
) -> bytes | None:
    """Return the wrong bytes of a field; None if this kind has none.

    *neighbour* is the same field of the neighbour.
    """
    found: bytes | None = None
    if wrong is Wrong.ZERO:
        found = bytes(len(right))
    elif wrong is Wrong.NEIGHBOUR:
        found = neighbour
    elif is_number:
        found = _wrong_number(right, wrong, is_signed=is_signed)
    elif right:
        found = _wrong_bytes(right, wrong)
    if found is None or found == right or len(found) != len(right):
        return None
    return found


def _wrong_number(right: bytes, wrong: Wrong, *, is_signed: bool) -> bytes | None:
    bits = 8 * len(right)
    if wrong is Wrong.MAXIMUM:
        return ((1 << (bits - is_signed)) - 1).to_bytes(len(right))
    if wrong is Wrong.PLUS_ONE:
        return ((int.from_bytes(right) + 1) % (1 << bits)).to_bytes(len(right))
    return b"\xff" * len(right) if is_signed else None


def _wrong_bytes(right: bytes, wrong: Wrong) -> bytes | None:
    if wrong is Wrong.MAXIMUM:
        return b"\xff" * len(right)
    if wrong is Wrong.PLUS_ONE:
        return right[:-1] + bytes([(right[-1] + 1) % 256])
    return None


def _expected(fault: FieldFault, site: _Site, span: FieldSpan) -> tuple[Expected, ...]:
    """Return the findings that the table has for *fault*."""
    outcome = fault.outcome
    placed = site.placed
    if outcome.is_at_unit and site.unit is not None:
        placed = site.unit
    at = span.begin if fault.structure in _FOUND_BY_FIELD else 0
    place = placed.offset + at
    return tuple(
        Expected(finding=finding, file=placed.file, offset=place)
        for finding in outcome.findings
    )


def _by_position(
    numbers: Sequence[int], *, share: int = 0
) -> Iterator[tuple[Position, Sequence[int]]]:
    """Yield the first, the middle and the last of *numbers*; one alone is the first.

    With a *share* its part of the numbers counts as first and as last, or one number.
    """
    count = max(len(numbers) // share, 1) if share else 1
    yield Position.FIRST, numbers[:count]
    yield Position.MIDDLE, numbers[count:-count]
    yield Position.LAST, numbers[count:][-count:]


def _neighbour(
    structures: Sequence[PlacedStructure],
    number: int,
    keys: Container[tuple[int, int]],
) -> PlacedStructure | None:
    """Return the next structure, or the previous one at the end.

    Of an index item it is the next item of another record. Neither record has the
    other's key: the messages of a batch have one unique key. *keys* are the commit-log
    offsets and hashes of all items.
    """
    one = structures[number]
    if one.name == "index_item":
        item = decode_item(one.data)
        for other in structures[number + 1 :]:
            near = decode_item(other.data)
            has_key = (item.commit_log_offset, near.key_hash) in keys
            if not has_key and (near.commit_log_offset, item.key_hash) not in keys:
                return other
        return None
    if number + 1 < len(structures):
        return structures[number + 1]
    return structures[number - 1] if number else None


def _unique_key(record: Record) -> str:
    """Return the unique key of *record*, or a text that no other record has."""
    found = decode_properties(record.properties).get(Property.UNIQ_KEY)
    return found or f"offset {record.physical_offset}"


def _place_of_unit(unit: PlacedStructure) -> tuple[str, int, int]:
    """Return topic, queue id and queue offset of a consume-queue *unit*."""
    _, topic, queue_id, base = unit.file.split("/")
    return topic, int(queue_id), (int(base) + unit.offset) // UNIT_SIZE
