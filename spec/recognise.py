"""
Recognise bytes by their content, and by their path if they have one.

A magic, a matching size or a plausible pair of times is usually enough. A guess is only
made when the whole structure can be read; no length is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from spec.layout import LayoutError
from spec.store.blank import BLANK_MAGIC
from spec.store.checkpoint import FILE_SIZE as CHECKPOINT_SIZE
from spec.store.consume_queue import UNIT_SIZE, decode_unit
from spec.store.file_names import FileKind, StoreFile
from spec.store.index_file import decode_header
from spec.store.message_record import MAGIC_V1, MAGIC_V2
from spec.views.command import frame_view
from spec.views.ids import message_id_view, unique_key_view
from spec.views.log import blank_view, record_view
from spec.views.queues import checkpoint_view, index_view, unit_view
from spec.views.view import LOG_OFFSET_MAX, PLAINLY, Reading, Recognition


def recognise(
    data: bytes,
    *,
    file: StoreFile | None = None,
    position: int = 0,
    reading: Reading = PLAINLY,
) -> Recognition:
    """Return the structure that begins *data*; LayoutError if not recognised.

    *file* is the meaning of the bytes' path, *position* their begin in the file,
    *reading* their release.
    """
    if not data:
        raise LayoutError("no bytes", offset=position)
    if data[:64].strip(b"\0") == b"" and not _may_be_zeros(file, position):
        raise LayoutError("zeros: nothing has been written here", offset=position)
    if file is not None and file.kind is FileKind.COMMIT_LOG:
        return _of_log(data, position, file, reading)
    if file is not None and file.kind in _OF_FILE:
        return _OF_FILE[file.kind](data, position, reading)
    for kind in _guesses(data):
        try:
            return KINDS[kind](data, position, reading)
        except LayoutError:
            if kind == "message record":
                raise
    if data.lstrip()[:1] in (b"{", b"["):
        text = "this may be JSON, such as a config file: there is no layout to show"
        raise LayoutError(text, offset=position)
    text = "these bytes begin no binary structure that RocketMQ writes"
    raise LayoutError(text, offset=position)


def _may_be_zeros(file: StoreFile | None, position: int) -> bool:
    """Return whether zeros are legal, such as in an empty slot of an index file."""
    if file is None:
        return False
    is_in_index = file.kind is FileKind.INDEX and position > 0
    return is_in_index or file.kind is FileKind.CHECKPOINT


def _guesses(data: bytes) -> list[str]:
    """Return the kinds that *data* may be, the likeliest first."""
    magic = int.from_bytes(data[4:8], "big")
    if magic in {MAGIC_V1, MAGIC_V2}:
        return ["message record"]
    if magic == BLANK_MAGIC:
        return ["blank"]
    guesses = ["frame"]
    if len(data) in {16, 28}:
        guesses += ["message id", "unique key"]
    if len(data) == CHECKPOINT_SIZE and not data[40:].strip(b"\0"):
        guesses.append("checkpoint")
    if _has_index_header(data):
        guesses.append("index header")
    if _has_units(data):
        guesses.append("consume queue unit")
    return guesses


def _has_index_header(data: bytes) -> bool:
    """Return whether *data* begins with times and offsets that can be an index's."""
    try:
        header = decode_header(data)
    except LayoutError:
        return False
    times = 0 < header.begin_stored_at_ms <= header.end_stored_at_ms < 10**14
    offsets = 0 <= header.begin_offset <= header.end_offset < LOG_OFFSET_MAX
    return times and offsets and 0 < header.slot_count < header.index_count + 1


def _has_units(data: bytes) -> bool:
    """Return whether *data* begins with units in rising order."""
    whole = data[: len(data) // UNIT_SIZE * UNIT_SIZE][: 10 * UNIT_SIZE]
    places = range(0, len(whole), UNIT_SIZE)
    units = [decode_unit(whole[place : place + UNIT_SIZE]) for place in places]
    written = [unit for unit in units if unit.is_written]
    offsets = [unit.commit_log_offset for unit in written if not unit.is_filler]
    return (
        bool(written)
        and units[: len(written)] == written
        and all(a < b for a, b in pairwise(offsets))
        and all(offset < LOG_OFFSET_MAX for offset in offsets)
    )


def _of_log(
    data: bytes, position: int, file: StoreFile, reading: Reading
) -> Recognition:
    if data[4:8] == BLANK_MAGIC.to_bytes(4, "big"):
        return blank_view(data, position, reading)
    return record_view(data, position, reading, place=file.begin_offset + position)


View = Callable[[bytes, int, Reading], Recognition]

KINDS: Mapping[str, View] = {
    "message record": record_view,
    "blank": blank_view,
    "frame": frame_view,
    "consume queue unit": unit_view,
    "index header": index_view,
    "checkpoint": checkpoint_view,
    "message id": message_id_view,
    "unique key": unique_key_view,
}
"""Recognisable structures, and their views."""

_OF_FILE: Mapping[FileKind, View] = {
    FileKind.CONSUME_QUEUE: unit_view,
    FileKind.INDEX: index_view,
    FileKind.CHECKPOINT: checkpoint_view,
}
