"""Views of what is made from a commit log: queues, index files, the checkpoint."""

from __future__ import annotations

from spec.explain import show_value
from spec.integers import INT32_MAX
from spec.layout import LayoutError
from spec.store import checkpoint as checkpoints
from spec.store import consume_queue as queues
from spec.store import index_file as index
from spec.store.checkpoint import checkpoint_layout, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE, decode_unit, unit_layout
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    decode_header,
    decode_item,
    item_layout,
    item_position,
    slot_layout,
)
from spec.store.index_file import header_layout as index_header_layout
from spec.views.view import (
    FieldClauses,
    Reading,
    Recognition,
    note,
    paragraphs,
    to_know,
    tree,
)

UNIT_CLAUSES: FieldClauses = {
    "commit_log_offset": (queues.UNIT_POINTS_AT_ITS_RECORD, queues.UNIT_ORDER),
    "size": (queues.UNIT_POINTS_AT_ITS_RECORD, queues.UNIT_ZEROS),
    "tags_code": (queues.UNIT_TAGS_CODE, queues.UNIT_DELIVERY_TIME),
    "": (queues.UNIT_PLACE, queues.UNIT_FILLER),
}
HEADER_CLAUSES: FieldClauses = {
    "begin_stored_at_ms": (index.INDEX_BEGIN,),
    "end_stored_at_ms": (index.INDEX_END,),
    "begin_offset": (index.INDEX_BEGIN,),
    "end_offset": (index.INDEX_END,),
    "slot_count": (index.INDEX_SLOT_COUNT_IS_ITEMS, index.INDEX_SLOT_COUNT),
    "index_count": (index.INDEX_COUNT_BEGINS_AT_ONE,),
}
SLOT_CLAUSES: FieldClauses = {"newest_item": (index.INDEX_SLOT_VALUE,)}
ITEM_CLAUSES: FieldClauses = {
    "key_hash": (index.INDEX_KEY, index.INDEX_KEY_HASH),
    "seconds": (index.INDEX_ITEM_SECONDS, index.INDEX_FIRST_ITEM_SECONDS),
    "previous_item": (index.INDEX_ITEM_PREVIOUS,),
}
CHECKPOINT_CLAUSES: FieldClauses = {
    "physic_ms": (checkpoints.CHECKPOINT_SAFETY,),
    "logics_ms": (checkpoints.CHECKPOINT_SAFETY,),
    "index_ms": (checkpoints.CHECKPOINT_INDEX,),
    "master_flushed_offset": (checkpoints.CHECKPOINT_MORE,),
    "confirmed_offset": (checkpoints.CHECKPOINT_MORE,),
    "queues_offset": (checkpoints.CHECKPOINT_OF_QUEUES,),
}


def unit_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a consume queue's unit."""
    unit = decode_unit(data)
    piece = data[:UNIT_SIZE]
    text = tree(unit_layout, piece, reading, UNIT_CLAUSES, base=position)
    notes = [note(" ", "place", f"unit {position // UNIT_SIZE} from the file's first")]
    if unit.is_filler:
        notes = [note(" ", "filler", "stands for an offset before the queue's first")]
    elif not unit.is_written:
        notes = [note(" ", "not written", "the queue ends before it")]
    elif unit.tags_code > INT32_MAX:  # no hash
        notes += [note(" ", "due", show_value("due_ms", unit.tags_code))]
    has_record = unit.is_written and not unit.is_filler
    return Recognition(
        kind="consume queue unit",
        text=paragraphs(text, notes, to_know(UNIT_CLAUSES, reading)),
        size=UNIT_SIZE,
        record_offset=unit.commit_log_offset if has_record else None,
    )


def index_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of an index file's header, of a slot or of an item."""
    if position == 0:
        return _header(data, reading)
    if position % SLOT_SIZE:
        reason = "a slot or an item begins at a multiple of 4"
        raise LayoutError(reason, offset=position)
    if reading.slot_count is None:
        return _slot_or_item(data, position, reading)
    first = item_position(0, reading.slot_count)
    if position < first:
        slot = (position - HEADER_SIZE) // SLOT_SIZE
        return _slot(data, position, reading, f"slot {slot} of {reading.slot_count}")
    number, rest = divmod(position - first, ITEM_SIZE)
    if rest:
        begin = position - rest
        raise LayoutError(f"item {number} begins at byte {begin}", offset=position)
    return _item(data, position, reading, f"item {number}")


def _header(data: bytes, reading: Reading) -> Recognition:
    header = decode_header(data)
    piece = data[:HEADER_SIZE]
    text = tree(index_header_layout, piece, reading, HEADER_CLAUSES)
    notes = [note(" ", "items", max(header.index_count - 1, 0))]
    if reading.slot_count is not None:
        first = item_position(1, reading.slot_count)
        slots = f"{reading.slot_count}, from byte {HEADER_SIZE} on"
        notes += [
            note(" ", "slots", slots),
            note(" ", "first item", f"at byte {first}"),
        ]
    shown = paragraphs(text, notes, to_know(HEADER_CLAUSES, reading))
    return Recognition(kind="index header", text=shown, size=HEADER_SIZE)


def _slot(data: bytes, position: int, reading: Reading, place: str) -> Recognition:
    piece = data[:SLOT_SIZE]
    text = tree(slot_layout, piece, reading, SLOT_CLAUSES, base=position)
    shown = paragraphs(text, note(" ", "place", place), to_know(SLOT_CLAUSES, reading))
    return Recognition(kind="index slot", text=shown, size=SLOT_SIZE)


def _item(data: bytes, position: int, reading: Reading, place: str) -> Recognition:
    if len(data) < ITEM_SIZE:
        reason = f"an item has {ITEM_SIZE} bytes, {len(data)} are here"
        raise LayoutError(reason, offset=position)
    piece = data[:ITEM_SIZE]
    text = tree(item_layout, piece, reading, ITEM_CLAUSES, base=position)
    shown = paragraphs(text, note(" ", "place", place), to_know(ITEM_CLAUSES, reading))
    offset = decode_item(piece).commit_log_offset
    record_offset = offset if any(piece) else None
    return Recognition(
        kind="index item", text=shown, size=ITEM_SIZE, record_offset=record_offset
    )


def _slot_or_item(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return both views; only the file's slot count distinguishes slot from item."""
    slot = tree(slot_layout, data[:SLOT_SIZE], reading, SLOT_CLAUSES, base=position)
    if len(data) < ITEM_SIZE:
        return Recognition(kind="index slot", text=slot, size=SLOT_SIZE)
    item = tree(item_layout, data[:ITEM_SIZE], reading, ITEM_CLAUSES, base=position)
    text = f"as a slot:\n{slot}\n\nas an item:\n{item}"
    return Recognition(kind="index item", text=text, size=ITEM_SIZE)


def checkpoint_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a checkpoint."""
    found = decode_checkpoint(data)
    piece = data[: checkpoint_layout.sizeof()]
    text = tree(checkpoint_layout, piece, reading, CHECKPOINT_CLAUSES, base=position)
    safe_ms = note(" ", "safe before", f"{found.safe_ms} (3000 ms before the smaller)")
    known = to_know(CHECKPOINT_CLAUSES, reading)
    shown = paragraphs(text, safe_ms, known)
    return Recognition(kind="checkpoint", text=shown, size=len(data))
