"""The view of a frame: its command, what its header fields are, what its body holds."""

from __future__ import annotations

import json
from collections.abc import Iterator

from spec.clause import release_key
from spec.explain import explain, show_bytes, show_flags, show_value
from spec.layout import LayoutError
from spec.store.message_record import decode_record, size_of_record
from spec.views.log import properties_of
from spec.views.view import (
    FieldClauses,
    Reading,
    Recognition,
    note,
    paragraphs,
    safe,
    to_know,
    tree,
)
from spec.wire.bodies.fastjson import loads
from spec.wire.consumer.pull import PullFlag
from spec.wire.headers.header_table import Field, HeaderTable
from spec.wire.remoting import command as commands
from spec.wire.remoting import frame as frames
from spec.wire.remoting.command import Command, command_of
from spec.wire.remoting.frame import (
    Frame,
    SerializeType,
    decode_frame,
    frame_layout,
    size_of_frame,
)
from spec.wire.remoting.header_rocketmq import header_layout
from spec.wire.remoting.language import Version
from spec.wire.remoting.request_code import request_name
from spec.wire.remoting.response_code import response_name

RECORDS_MAX = 32
"""Records of a body that are named."""
HEADER_START = 8
FRAME_CLAUSES: FieldClauses = {
    "size": (frames.FRAME_SIZE, frames.FRAME_TOO_LARGE, frames.FRAME_TOO_SMALL),
    "serialize_type": (
        frames.FRAME_SERIALIZE_TYPE,
        frames.FRAME_UNKNOWN_SERIALIZE_TYPE,
    ),
    "header_size": (frames.FRAME_HEADER_SIZE, frames.FRAME_HEADER_PAST_END),
    "header": (frames.FRAME_BAD_HEADER,),
    "body": (frames.FRAME_BODY,),
    "": (
        commands.RESPONSE_SETS_BIT_0,
        commands.ONEWAY_HAS_NO_RESPONSE,
        commands.OPAQUE_IS_REPEATED,
    ),
}
_PULLS = frozenset({"PULL_MESSAGE", "LITE_PULL_MESSAGE"})


def frame_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a frame."""
    size = size_of_frame(data)
    if size > len(data):
        reason = f"a frame of {size} bytes, {len(data)} are here"
        raise LayoutError(reason, field="size", offset=position)
    frame = decode_frame(data[:size])
    command = command_of(frame)
    shown = paragraphs(
        tree(frame_layout, data[:size], reading, FRAME_CLAUSES, base=position),
        _binary_header(frame, position),
        [*_notes(command), *_fields(command, reading)],
        list(_body(command.body, position + size - len(command.body), reading)),
        to_know(FRAME_CLAUSES, reading),
    )
    return Recognition(kind="frame", text=shown, size=size)


def _binary_header(frame: Frame, position: int) -> str:
    if frame.serialize_type != SerializeType.ROCKETMQ:
        return ""
    return explain(header_layout, frame.header, base=position + HEADER_START)


def _notes(command: Command) -> Iterator[str]:
    kind = "response" if command.is_response else "request"
    name = (response_name if command.is_response else request_name)(command.code)
    flag = f"{command.flag} ({kind}{', no response wanted' * command.is_oneway})"
    yield note(" ", "kind", kind)
    yield note(" ", "code", f"{command.code} ({name})")
    yield note(" ", "opaque", command.opaque)
    yield note(" ", "flag", flag)
    release = release_of(command.version)
    version_text = f"{command.version} ({release})" if release else f"{command.version}"
    yield note(" ", "language", f"{safe(command.language)}, version {version_text}")
    if command.remark is not None:
        yield note(" ", "remark", safe(command.remark))


def release_of(version: int) -> str | None:
    """Return the release whose number is *version*, if it is one of those studied."""
    names = {one.value: one.name[1:].replace("_", ".") for one in Version}
    return names.get(version)


def _fields(command: Command, reading: Reading) -> Iterator[str]:
    """Yield every header field, with its entry in the release's table."""
    known = {one.name: one for one in _declared(command, reading)}
    for name, value in command.fields.items():
        field = known.get(name)
        long_name = (field.long_name if field else "") or name
        remarks = [
            *([f"{field.long_name}:"] if field and field.long_name else []),
            *([_kind_of(field, command)] if field else []),
            _meaning(long_name, value, command, reading),
        ]
        text = " ".join(one for one in remarks if one)
        shown = f"    {safe(name)} = {safe(value, is_full=reading.is_full)}"
        yield f"{shown}  # {text}" if text else shown


def _kind_of(field: Field, command: Command) -> str:
    is_required = field.required and not command.is_response
    return f"{field.java_type}{', required' if is_required else ''}"


def _declared(command: Command, reading: Reading) -> list[Field]:
    """Return the header fields that *command* may have in its release."""
    if not reading.headers:
        return []
    wanted = reading.release or release_of(command.version) or ""
    table = reading.headers.get(wanted)
    if table is None:
        table = reading.headers[max(reading.headers, key=release_key)]
    if command.is_response:
        return _of_responses(table)
    request = table.request(command.code)
    uses = request.carried if request else ()
    return [one for use in uses for one in table.headers[use.name].fields]


def _of_responses(table: HeaderTable) -> list[Field]:
    """Return the fields that have one meaning in all responses that have them.

    A response does not name its request; most field names are unambiguous.
    """
    found: dict[str, list[Field]] = {}
    names = {use.name for request in table.requests for use in request.responses}
    for name in sorted(names):
        for one in table.headers[name].fields:
            found.setdefault(one.name, []).append(one)
    alike = {name: {one.java_type for one in row} for name, row in found.items()}
    return [row[0] for name, row in found.items() if len(alike[name]) == 1]


def _meaning(name: str, value: str, command: Command, reading: Reading) -> str:
    """Return the decoded form of a value: a time, flags, properties."""
    if name == "properties":
        found = properties_of(value, reading)
        return "; ".join(f"{safe(one)} = {safe(text)}" for one, text in found.items())
    if not (value.isascii() and value.lstrip("-").isdigit() and len(value) < 20):
        return ""
    number = int(value)
    if name.lower() == "sysflag" and number:
        return f"({_flags(number, command)})"
    if "time" in name.lower():
        return show_value("_ms", number).removeprefix(value).strip()
    return ""


def _flags(number: int, command: Command) -> str:
    if request_name(command.code) not in _PULLS:
        return show_flags(number)
    names = [one.name or "" for one in PullFlag if number & one]
    rest = number & ~sum(PullFlag)
    return " | ".join([*names, *([f"{rest:#x}"] if rest else [])])


def _body(body: bytes, position: int, reading: Reading) -> Iterator[str]:
    """Yield a line for the body: records one by one, JSON as text.

    A full reading has JSON with indentation, as far as it can be read.
    """
    if body[:1] in {b"{", b"["}:
        yield from _json_body(body) if reading.is_full else [_json_line(body)]
        return
    place = 0
    for _ in range(RECORDS_MAX):
        try:
            size = size_of_record(body[place:])
            record = decode_record(body[place : place + size], check_crc=False)
        except LayoutError:
            return
        where = f"{position + place}..{position + place + size}"
        message = (
            f"{safe(record.topic)} queue {record.queue_id},"
            f" {show_bytes(record.body, is_full=reading.is_full)}"
        )
        yield f"    record at {where}: offset {record.queue_offset} of {message}"
        place += size


def _json_line(body: bytes) -> str:
    return note(" ", "body", f"JSON, {show_bytes(body)}")


def _json_body(body: bytes) -> Iterator[str]:
    """Yield the lines of a JSON body with indentation, non-ASCII letters escaped."""
    try:
        text = json.dumps(loads(body), indent=2)
    except (LayoutError, TypeError):  # such as an object as a key
        yield _json_line(body)
        return
    yield note(" ", "body", "JSON")
    yield from (f"    {line}" for line in text.splitlines())
