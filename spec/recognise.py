"""
What are these bytes? A guess from their content, and from their path if they have one.

A magic, a size that fits or a plausible pair of times gives most things away. A
guess is only made when the whole thing can be read; nothing is taken on its word,
least of all a length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from spec.explain import WRONG, explain, show_bytes
from spec.layout import LayoutError
from spec.store.blank import BLANK_MAGIC, blank_layout, decode_blank
from spec.store.checkpoint import FILE_SIZE as CHECKPOINT_SIZE
from spec.store.checkpoint import checkpoint_layout, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE, decode_unit, unit_layout
from spec.store.file_names import FileKind, StoreFile
from spec.store.index_file import (
    HEADER_SIZE,
    decode_header,
    item_layout,
    slot_layout,
)
from spec.store.index_file import header_layout as index_header_layout
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    BadChecksumError,
    Record,
    decode_record,
    record_layout,
    size_of_record,
)
from spec.wire.command import command_of
from spec.wire.frame import SerializeType, decode_frame, frame_layout, size_of_frame
from spec.wire.header_rocketmq import header_layout as command_header_layout
from spec.wire.message_id import (
    decode_message_id,
    encode_message_id,
    layout_of_message_id,
)
from spec.wire.properties import decode_properties
from spec.wire.request_code import request_name
from spec.wire.response_code import response_name
from spec.wire.unique_key import decode_unique_key, layout_of_unique_key

LOG_OFFSET_MAX = 2**48
"""No commit log reaches 256 TiB; an id that names a larger offset is another id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """What bytes were found to be."""

    kind: str
    """Such as ``message record``; a name of KINDS."""
    text: str
    """The explanation, several lines."""
    size: int
    """Bytes that were explained; the next thing begins after them."""
    is_sound: bool = True
    """Whether nothing is wrong with it, its checksum included."""


def recognise(
    data: bytes, *, file: StoreFile | None = None, position: int = 0
) -> Recognition:
    """Return what begins *data*, or raise LayoutError where it is nothing known.

    *file* says what the path of the bytes says, *position* where in it they begin.
    """
    if not data:
        raise LayoutError("no bytes", offset=position)
    if data[:64].strip(b"\0") == b"" and not _may_be_zeros(file):
        raise LayoutError("zeros: nothing has been written here", offset=position)
    if file is not None and file.kind is FileKind.COMMIT_LOG:
        return _of_log(data, position, file)
    if file is not None and file.kind in _OF_FILE:
        return _OF_FILE[file.kind](data, position)
    for kind in _guesses(data):
        try:
            return KINDS[kind](data, position)
        except LayoutError:
            if kind == "message record":
                raise
    raise LayoutError("these bytes are nothing that RocketMQ writes", offset=position)


def _may_be_zeros(file: StoreFile | None) -> bool:
    return file is not None and file.kind is FileKind.CHECKPOINT


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


def _of_log(data: bytes, position: int, file: StoreFile) -> Recognition:
    if data[4:8] == BLANK_MAGIC.to_bytes(4, "big"):
        return _blank(data, position)
    return _record(data, position, place=file.begin_offset + position)


def _record(data: bytes, position: int, place: int | None = None) -> Recognition:
    size = size_of_record(data)
    wrong: dict[str, str] = {}
    try:
        record = decode_record(data)
    except BadChecksumError as error:
        record, wrong = decode_record(data, check_crc=False), {"body_crc": error.reason}
    if place is not None and record.physical_offset != place:
        wrong["physical_offset"] = f"the record lies at {place}"
    text = explain(record_layout, data[:size], wrong=wrong, base=position)
    notes = [_note(WRONG, name, reason) for name, reason in wrong.items()]
    return Recognition(
        kind="message record",
        text="\n".join([text, "", *notes, *_record_notes(record)]),
        size=size,
        is_sound=not wrong,
    )


def _record_notes(record: Record) -> list[str]:
    place = encode_message_id(record.store_host, record.physical_offset)
    properties = decode_properties(record.properties)
    return [
        _note(" ", "message id", place),
        *(f"    {_safe(name)} = {_safe(value)}" for name, value in properties.items()),
    ]


def _note(mark: str, name: str, value: object) -> str:
    return f"  {mark} {name}: {value}"


def _safe(text: str) -> str:
    """Return *text* such that a terminal may have it, whatever a peer put in."""
    try:
        return show_bytes(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return ascii(text)


def _blank(data: bytes, position: int) -> Recognition:
    blank = decode_blank(data)
    text = explain(blank_layout, data[: blank_layout.sizeof()], base=position)
    return Recognition(kind="blank", text=text, size=blank.size)


def _frame(data: bytes, position: int) -> Recognition:
    size = size_of_frame(data)
    if size > len(data):
        reason = f"a frame of {size} bytes, {len(data)} are here"
        raise LayoutError(reason, field="size", offset=position)
    frame = decode_frame(data[:size])
    command = command_of(frame)
    text = explain(frame_layout, data[:size], base=position)
    name = (response_name if command.is_response else request_name)(command.code)
    notes = [
        _note(" ", "kind", "response" if command.is_response else "request"),
        _note(" ", "code", f"{command.code} ({name})"),
        _note(" ", "opaque", command.opaque),
        _note(" ", "flag", command.flag),
        _note(" ", "language", f"{_safe(command.language)}, version {command.version}"),
    ]
    if command.remark is not None:
        notes.append(_note(" ", "remark", _safe(command.remark)))
    notes += [f"    {_safe(n)} = {_safe(v)}" for n, v in command.fields.items()]
    if frame.serialize_type == SerializeType.ROCKETMQ:
        inner = explain(command_header_layout, frame.header, base=position + 8)
        notes = [inner, "", *notes]
    return Recognition(kind="frame", text="\n".join([text, "", *notes]), size=size)


def _unit(data: bytes, position: int) -> Recognition:
    unit = decode_unit(data)
    text = explain(unit_layout, data[:UNIT_SIZE], base=position)
    notes = []
    if unit.is_filler:
        notes = [_note(" ", "filler", "stands for an offset before the queue's first")]
    return Recognition(
        kind="consume queue unit", text="\n".join([text, *notes]), size=UNIT_SIZE
    )


def _index_part(data: bytes, position: int) -> Recognition:
    """Return the header; elsewhere only the file's slot count tells slot from item."""
    if position == 0:
        header = decode_header(data)
        text = explain(index_header_layout, data[:HEADER_SIZE])
        items = _note(" ", "items", max(header.index_count - 1, 0))
        return Recognition(kind="index header", text=f"{text}\n\n{items}", size=40)
    if position % 4:
        reason = "a slot or an item begins at a multiple of 4"
        raise LayoutError(reason, offset=position)
    slot = explain(slot_layout, data[:4], base=position)
    if len(data) < item_layout.sizeof():
        return Recognition(kind="index slot", text=slot, size=4)
    size = item_layout.sizeof()
    item = explain(item_layout, data[:size], base=position)
    text = f"as a slot:\n{slot}\n\nas an item:\n{item}"
    return Recognition(kind="index item", text=text, size=size)


def _checkpoint(data: bytes, position: int) -> Recognition:
    decode_checkpoint(data)
    size = checkpoint_layout.sizeof()
    text = explain(checkpoint_layout, data[:size], base=position)
    return Recognition(kind="checkpoint", text=text, size=len(data))


def _message_id(data: bytes, position: int) -> Recognition:
    host, offset = decode_message_id(data.hex())
    if host.port == 0 or not 0 <= offset < LOG_OFFSET_MAX:
        raise LayoutError(f"offset {offset} of {host} is no place in a commit log")
    text = explain(layout_of_message_id(data), data, base=position)
    asked = _note(" ", "ask", f"{host} for the record at {offset}")
    return Recognition(kind="message id", text=f"{text}\n\n{asked}", size=len(data))


def _unique_key(data: bytes, position: int) -> Recognition:
    key = decode_unique_key(data.hex())
    text = explain(layout_of_unique_key(data), data, base=position)
    days, rest = divmod(key.since_month_ms, 86_400_000)
    when = f"day {days + 1} of a month, {rest // 3_600_000:02}:{rest // 60_000 % 60:02}"
    made = _note(" ", "made", f"{when}:{rest // 1000 % 60:02}, the producer's time")
    return Recognition(kind="unique key", text=f"{text}\n\n{made}", size=len(data))


KINDS: Mapping[str, Callable[[bytes, int], Recognition]] = {
    "message record": _record,
    "blank": _blank,
    "frame": _frame,
    "consume queue unit": _unit,
    "index header": _index_part,
    "checkpoint": _checkpoint,
    "message id": _message_id,
    "unique key": _unique_key,
}
"""What can be recognised, and how it is read."""

_OF_FILE: Mapping[FileKind, Callable[[bytes, int], Recognition]] = {
    FileKind.CONSUME_QUEUE: _unit,
    FileKind.INDEX: _index_part,
    FileKind.CHECKPOINT: _checkpoint,
}
