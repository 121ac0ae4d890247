"""
Places of the structures of a small store, and the spans of their fields.

The places follow from the layouts of the specification, so every field that a layout
declares is included. Recorded and generated stores are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from construct import Struct

from spark_checks.faults.field_spans import FieldSpan, field_spans
from spec.derive.outline import Counted, Structure, outline
from spec.layouts import LAYOUTS
from spec.store import batch_queue, consume_queue
from spec.store.checkpoint import checkpoint_layout
from spec.store.commit_log import Scan, Stop, scan
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    decode_header,
    item_position,
    slot_count_of,
)
from spec.store.queue_extension import EXTENSION, decode_extension_units
from spec.store.timer.timer_log import (
    BLANK_SIZE_MIN,
    TIMER_LOG,
    UNIT_SIZE,
    decode_timer_units,
)
from spec.store.timer.timer_wheel import (
    CHECKPOINT_SIZE,
    TIMER_CHECKPOINT,
    TIMER_WHEEL,
)
from spec.store.timer.timer_wheel import SLOT_SIZE as TIMER_SLOT_SIZE

STRUCTURES: Mapping[str, Struct] = {
    name: LAYOUTS[name]
    for name in (
        *("message_record", "blank", "consume_queue_unit"),
        *("consume_queue_extension_unit", "batch_consume_queue_unit"),
        *("index_header", "index_slot", "index_item", "checkpoint"),
        *("timer_unit", "timer_blank", "timer_slot", "timer_checkpoint"),
    )
}
"""Layouts of everything that a store's binary files hold, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedStructure:
    """A structure of a store, and its bytes."""

    name: str
    file: str
    """Path relative to the store."""
    offset: int
    """Position in the file."""
    data: bytes

    def fields(self) -> Mapping[str, FieldSpan]:
        """Return the fields by name, in the order of the layout."""
        return _fields_of(self.name, self.data)

    def bytes_of(self, span: FieldSpan) -> bytes:
        """Return the bytes of the field at *span*."""
        return self.data[span.begin : span.begin + span.size]


def field_names(layout: Struct) -> list[str]:
    """Return the names of the fields of *layout*.

    Parts of a field follow a dot. The size before bytes of variable size is a field of
    its own, ``<field>_size``.
    """
    return list(_names_in(outline(layout), ""))


@lru_cache(maxsize=1 << 14)
def _fields_of(name: str, data: bytes) -> Mapping[str, FieldSpan]:
    """Return the fields of a structure; parsing one with a trace takes 0.3 ms."""
    return field_spans(STRUCTURES[name], data)


def _names_in(structure: Structure, prefix: str) -> Iterator[str]:
    for one in structure.fields:
        name = f"{prefix}{one.name}"
        if isinstance(one.form, Structure):
            yield from _names_in(one.form, f"{name}.")
            continue
        if isinstance(one.form, Counted):
            yield f"{name}_size"
        yield name


def structures_of(root: Path) -> Iterator[PlacedStructure]:
    """Yield the structures of the store at *root*, file by file and in order."""
    yield from _in_log(root)
    yield from _in_queues(
        root, "consumequeue", "consume_queue_unit", consume_queue.UNIT_SIZE
    )
    yield from _in_queues(
        root,
        batch_queue.BATCH_QUEUE,
        "batch_consume_queue_unit",
        batch_queue.UNIT_SIZE,
    )
    for path in sorted(root.glob(f"{EXTENSION}/*/*/*")):
        data = path.read_bytes()
        for at in decode_extension_units(data):
            size = int.from_bytes(data[at : at + 2], "big")
            yield _placed(
                root, path, "consume_queue_extension_unit", at, data[at : at + size]
            )
    for path in sorted(root.glob("index/*")):
        yield from _in_index(root, path)
    path = root / "checkpoint"
    if path.exists():
        data = path.read_bytes()[: checkpoint_layout.sizeof()]
        yield _placed(root, path, "checkpoint", 0, data)
    yield from _of_timer(root)


def _in_log(root: Path) -> Iterator[PlacedStructure]:
    for path in sorted(root.glob("commitlog/*")):
        data, base = path.read_bytes(), int(path.name)
        found: Scan = scan(data, base)
        for one in found.records:
            at = one.offset - base
            yield _placed(root, path, "message_record", at, data[at : at + one.size])
        if found.stop is Stop.BLANK:
            at = found.end_offset - base
            yield _placed(root, path, "blank", at, data[at : at + 8])


def _in_queues(
    root: Path, directory: str, name: str, size: int
) -> Iterator[PlacedStructure]:
    for path in sorted(root.glob(f"{directory}/*/*/*")):
        data = path.read_bytes()
        for at in range(0, len(data) - size + 1, size):
            if any(data[at : at + size]):
                yield _placed(root, path, name, at, data[at : at + size])


def _in_index(root: Path, path: Path) -> Iterator[PlacedStructure]:
    data = path.read_bytes()
    yield _placed(root, path, "index_header", 0, data[:HEADER_SIZE])
    slots = slot_count_of(len(data))
    for at in range(HEADER_SIZE, HEADER_SIZE + slots * SLOT_SIZE, SLOT_SIZE):
        if any(data[at : at + SLOT_SIZE]):
            yield _placed(root, path, "index_slot", at, data[at : at + SLOT_SIZE])
    for number in range(1, decode_header(data).index_count):
        at = item_position(number, slots)
        yield _placed(root, path, "index_item", at, data[at : at + ITEM_SIZE])


def _of_timer(root: Path) -> Iterator[PlacedStructure]:
    for path in sorted(root.glob(f"{TIMER_LOG}/*")):
        data = path.read_bytes()
        units = decode_timer_units(data)
        for at in units:
            yield _placed(root, path, "timer_unit", at, data[at : at + UNIT_SIZE])
        at = len(units) * UNIT_SIZE
        if any(data[at : at + BLANK_SIZE_MIN]):
            blank = data[at : at + BLANK_SIZE_MIN]
            yield _placed(root, path, "timer_blank", at, blank)
    path = root / TIMER_WHEEL
    if path.exists():
        data = path.read_bytes()
        for at in range(0, len(data), TIMER_SLOT_SIZE):
            slot = data[at : at + TIMER_SLOT_SIZE]
            if any(slot):
                yield _placed(root, path, "timer_slot", at, slot)
    path = root / "config" / TIMER_CHECKPOINT
    if path.exists():
        data = path.read_bytes()[:CHECKPOINT_SIZE]
        yield _placed(root, path, "timer_checkpoint", 0, data)


def _placed(
    root: Path, path: Path, name: str, offset: int, data: bytes
) -> PlacedStructure:
    return PlacedStructure(
        name=name,
        file=path.relative_to(root).as_posix(),
        offset=offset,
        data=data,
    )
