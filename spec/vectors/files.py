"""
Vectors of what lies in a store beside records: queues, index files, names, times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spec.store.batch_queue import UNIT_SIZE as BATCH_UNIT_SIZE
from spec.store.batch_queue import (
    BatchUnit,
    decode_batch_unit,
    encode_batch_unit,
)
from spec.store.checkpoint import (
    Checkpoint,
    checkpoint_layout,
    decode_checkpoint,
    encode_checkpoint,
)
from spec.store.consume_queue import (
    UNIT_FILLER,
    UNIT_SIZE,
    UNIT_ZEROS,
    Unit,
    decode_unit,
    encode_unit,
)
from spec.store.file_names import NAME_IS_OFFSET, file_name
from spec.store.index_file import (
    HEADER_SIZE,
    INDEX_COUNT_BEGINS_AT_ONE,
    INDEX_ITEM_PREVIOUS,
    IndexHeader,
    IndexItem,
    decode_header,
    encode_header,
    encode_item,
    encode_slot,
    file_size,
    items_of_slot,
    key_hash,
    slot_position,
)
from spec.store.queue_extension import (
    ExtensionUnit,
    decode_extension_unit,
    decode_extension_units,
    encode_extension_unit,
)
from spec.store.timer.timer_log import UNIT_SIZE as TIMER_UNIT_SIZE
from spec.store.timer.timer_log import decode_timer_unit
from spec.vectors.form import Flag, Group, Result, Vector, VectorFile, values_of
from spec.vectors.texts import SMALLEST_KEY

FLAGS = {
    "Recorded": Flag(meaning="A real broker wrote these bytes."),
    "Filler": Flag(
        meaning="Stands before a queue's first unit.", clauses=(UNIT_FILLER,)
    ),
    "Unwritten": Flag(meaning="The queue ends before it.", clauses=(UNIT_ZEROS,)),
    "Since5": Flag(meaning="Releases before 5.0 have no such file."),
    "Collision": Flag(
        meaning="Two keys have one hash: a hit is a hint, the record decides.",
        clauses=(INDEX_ITEM_PREVIOUS,),
    ),
    "IndexCount": Flag(
        meaning="One more than there are items.", clauses=(INDEX_COUNT_BEGINS_AT_ONE,)
    ),
    "FileName": Flag(meaning="20 decimal digits.", clauses=(NAME_IS_OFFSET,)),
    "Truncated": Flag(meaning="Fewer bytes than the layout has."),
}
Bytes = Mapping[str, bytes]
SLOTS_RECORDED = 100
"""Slots of the recorded index files, see conformance/interop/handover/handover.py."""
SLOTS = 4
ITEMS = 8


def unit_file(
    *, queues: Bytes, extensions: Bytes, batch_queues: Bytes, timer_logs: Bytes
) -> VectorFile:
    """Return the vectors of queues' units; what is given are recorded files."""
    extended = {f"{name} at {at}": data for name, at, data in _extended(extensions)}
    batches = _pieces(batch_queues, BATCH_UNIT_SIZE)
    timed = _pieces(timer_logs, TIMER_UNIT_SIZE)
    return VectorFile(
        algorithm="consume queue unit",
        meaning="One entry of a queue: where a message lies, its size, its tags code.",
        flags=FLAGS,
        groups=(
            Group(type="unit", tests=(*_units(), *_recorded_units(queues))),
            Group(
                type="batch_unit",
                tests=(*_batch_units(), *_recorded(batches, decode_batch_unit)),
            ),
            Group(
                type="extension_unit",
                tests=(
                    *_extension_units(),
                    *_recorded(extended, decode_extension_unit),
                ),
            ),
            Group(type="timer_unit", tests=tuple(_recorded(timed, decode_timer_unit))),
        ),
    )


def _extended(files: Bytes) -> Iterator[tuple[str, int, bytes]]:
    """Yield the first units of extension files, each of a size of its own."""
    for name, data in files.items():
        for at, unit in list(decode_extension_units(data).items())[:2]:
            size = len(encode_extension_unit(unit))
            yield name, at, data[at : at + size]


def _pieces(files: Bytes, size: int) -> dict[str, bytes]:
    """Return the first two units of each file, which have *size* bytes each."""
    return {
        f"{name} at {at}": data[at : at + size]
        for name, data in files.items()
        for at in (0, size)
    }


def _recorded(found: Bytes, decode: Callable[[bytes], Any]) -> Iterator[Vector]:
    for comment, data in found.items():
        yield _read(comment, data, values_of(decode(data)), "Recorded")


def index_vectors(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of index files; *recorded* holds some."""
    return VectorFile(
        algorithm="index file",
        meaning="Whole small index files, and the offsets that a key leads to, newest"
        " first. Slots are as many as slot_count_of_file says.",
        flags=FLAGS,
        groups=(
            Group(type="index_file", tests=(_index(), *_recorded_indexes(recorded))),
            Group(type="index_item", tests=tuple(_items())),
        ),
    )


def store_file_vectors(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of file names and checkpoints."""
    return VectorFile(
        algorithm="file names and checkpoint",
        meaning="How files are called, and the first 48 bytes of the checkpoint.",
        flags=FLAGS,
        groups=(
            Group(type="file_name", tests=tuple(_names())),
            Group(type="checkpoint", tests=tuple(_checkpoints(recorded))),
        ),
    )


def _read(comment: str, data: bytes, values: Any, *flags: str) -> Vector:
    return Vector(
        comment=comment, members={"bytes": data, "values": values}, flags=flags
    )


def _refused(comment: str, data: bytes, *flags: str) -> Vector:
    return Vector(
        comment=comment, members={"bytes": data}, result=Result.INVALID, flags=flags
    )


def _units() -> Iterator[Vector]:
    for comment, unit, flags in (
        ("a message", Unit(commit_log_offset=2**32, size=178, tags_code=2_598_919), ()),
        ("a negative hash", Unit(commit_log_offset=0, size=91, tags_code=-1), ()),
        (
            "a delivery time",
            Unit(commit_log_offset=9, size=91, tags_code=1573 * 10**9),
            (),
        ),
        (
            "the ends of the ranges",
            Unit(commit_log_offset=2**63 - 1, size=2**31 - 2, tags_code=-(2**63)),
            (),
        ),
        ("a filler", Unit(commit_log_offset=0, size=2**31 - 1), ("Filler",)),
        ("not written", Unit(commit_log_offset=0, size=0), ("Unwritten",)),
    ):
        yield _read(comment, encode_unit(unit), values_of(unit), *flags)
    yield _refused("19 bytes", bytes(19), "Truncated")


def _recorded_units(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    for name, data in recorded.items():
        for place in range(0, 3 * UNIT_SIZE, UNIT_SIZE):
            unit = decode_unit(data[place : place + UNIT_SIZE])
            piece = data[place : place + UNIT_SIZE]
            yield _read(f"{name} at {place}", piece, values_of(unit), "Recorded")


def _batch_units() -> Iterator[Vector]:
    unit = BatchUnit(
        commit_log_offset=2**32,
        size=400,
        tags_code=97,
        stored_at_ms=1573 * 10**9,
        first_queue_offset=12,
        message_count=3,
    )
    yield _read("three messages", encode_batch_unit(unit), values_of(unit), "Since5")


def _extension_units() -> Iterator[Vector]:
    for bits in (b"", b"\x01\x80" * 4):
        unit = ExtensionUnit(tags_code=97, stored_at_ms=1573 * 10**9, filter_bits=bits)
        comment = f"{len(bits)} bytes of filter"
        yield _read(comment, encode_extension_unit(unit), values_of(unit))


def _index() -> Vector:
    """Return a file with two keys of one hash, and one whose hash has no sign."""
    keys = (("TopicTest", "Aa"), ("TopicTest", "BB"), SMALLEST_KEY)
    data = bytearray(file_size(SLOTS, ITEMS))
    header = IndexHeader(
        begin_stored_at_ms=1_573_000_000_000,
        end_stored_at_ms=1_573_000_002_000,
        begin_offset=0,
        end_offset=2**32 + 2,
        slot_count=2,
        index_count=4,
    )
    data[:HEADER_SIZE] = encode_header(header)
    for number, (topic, key) in enumerate(keys, start=1):
        code = key_hash(topic, key)
        slot = slot_position(code, SLOTS)
        previous = int.from_bytes(data[slot : slot + 4], "big")
        item = encode_item(
            IndexItem(
                key_hash=code,
                commit_log_offset=_offset_of(number),
                seconds=number - 1,
                previous_item=previous,
            )
        )
        place = file_size(SLOTS, number)
        data[place : place + len(item)] = item
        data[slot : slot + 4] = encode_slot(number)
    lookups = [(*key, _found(bytes(data), SLOTS, *key)) for key in keys]
    return _index_file("two keys of one hash", bytes(data), SLOTS, lookups, "Collision")


def _offset_of(number: int) -> int:
    return 0 if number == 1 else 2**32 + number - 1


def _found(data: bytes, slots: int, topic: str, key: str) -> list[int]:
    """Return the offsets of the items of this key's hash, newest first."""
    code = key_hash(topic, key)
    chain = items_of_slot(data, code, slots)
    return [one.commit_log_offset for one in chain if one.key_hash == code]


def _index_file(
    comment: str,
    data: bytes,
    slots: int,
    lookups: list[tuple[str, str, list[int]]],
    *flags: str,
) -> Vector:
    values = {
        "header": values_of(decode_header(data)),
        "slot_count_of_file": slots,
        "lookups": [
            {"topic": topic, "key": key, "offsets": [str(one) for one in offsets]}
            for topic, key, offsets in lookups
        ],
    }
    return _read(comment, data, values, "IndexCount", *flags)


def _recorded_indexes(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    topics = ("HandoverOrders", "HandoverBills")
    for name, data in recorded.items():
        wanted_keys = [
            (topic, f"order-{number}") for topic in topics for number in range(3)
        ]
        lookups = [(*key, _found(data, SLOTS_RECORDED, *key)) for key in wanted_keys]
        yield _index_file(name, data, SLOTS_RECORDED, lookups, "Recorded")


def _items() -> Iterator[Vector]:
    item = IndexItem(
        key_hash=key_hash("TopicTest", "a"),
        commit_log_offset=2**32,
        seconds=5,
        previous_item=1,
    )
    yield _read("an item", encode_item(item), values_of(item))
    yield _refused("19 bytes", bytes(19), "Truncated")


def _names() -> Iterator[Vector]:
    for offset in (0, 6_000_000, 2**30, 2**63 - 1):
        members = {"offset": str(offset), "name": file_name(offset)}
        yield Vector(comment=f"offset {offset}", members=members, flags=("FileName",))


def _checkpoints(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    made = encode_checkpoint(
        Checkpoint(physic_ms=10**12, logics_ms=10**12 + 1, index_ms=7)
    )
    yield _checkpoint("the index is far behind", made)
    for name, data in recorded.items():
        yield _checkpoint(name, data, "Recorded")


def _checkpoint(comment: str, data: bytes, *flags: str) -> Vector:
    found = decode_checkpoint(data)
    values = values_of(found) | {"safe_ms": str(found.safe_ms)}
    return _read(comment, data[: checkpoint_layout.sizeof()], values, *flags)
