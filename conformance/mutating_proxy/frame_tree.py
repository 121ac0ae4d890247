"""
A frame as a tree of values: members of the header, header fields, and the body.

A body in JSON is a tree too. A row of message records is a list, each with its fields
and properties by name. A batch is a list of its messages. Lines of ``key=value`` are a
map. Any other body stays bytes, as that of a message. Properties in the header of a
send are a map.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from construct import Container

from spec.layout import LayoutError, build, parse
from spec.store.message_record import SMALLEST_SIZE, record_layout
from spec.wire.bodies import fastjson
from spec.wire.message.properties import NAME_END, VALUE_END
from spec.wire.remoting.command import (
    Command,
    CommandFlag,
    decode_command,
    encode_command,
)
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import (
    BatchMessage,
    decode_batch,
    encode_batch_message,
)

Tree = dict[Any, Any]
MEMBERS = tuple(one.name for one in fields(Command) if one.name != "body")
JSON, RECORDS, BATCH, LINES, BYTES = "json", "records", "batch", "lines", "bytes"
KIND = "kind of body"
"""Key of the tree under which the form of the body stands."""
PROPERTIES: Mapping[int, str] = {
    RequestCode.SEND_MESSAGE: "properties",
    RequestCode.SEND_MESSAGE_V2: "i",
    RequestCode.SEND_REPLY_MESSAGE: "properties",
    RequestCode.SEND_REPLY_MESSAGE_V2: "i",
}
"""Header fields of requests that have the properties of a message."""
OF_MESSAGES = (*PROPERTIES, RequestCode.SEND_BATCH_MESSAGE)
"""Requests whose body is that of a message, or a batch."""


def tree_of(frame: bytes) -> Tree:
    """Return the tree of *frame*; LayoutError where it is not a frame."""
    command = decode_command(frame)
    tree: Tree = {name: getattr(command, name) for name in MEMBERS}
    tree["fields"] = dict(command.fields)
    name = PROPERTIES.get(command.code, "")
    text = command.fields.get(name)
    if text and not command.flag & CommandFlag.RESPONSE:
        found = _properties_of(text)
        if _text_of(found) == text:
            tree["fields"][name] = found
    if command.flag & CommandFlag.RESPONSE or command.code not in OF_MESSAGES:
        tree["body"], tree[KIND] = _body_of(command.body)
    elif command.code == RequestCode.SEND_BATCH_MESSAGE:
        tree["body"], tree[KIND] = _batch_of(command.body)
    else:
        tree["body"], tree[KIND] = command.body, BYTES
    return tree


def frame_of(tree: Tree) -> bytes:
    """Return the frame of *tree*."""
    members = {name: tree[name] for name in MEMBERS}
    members["fields"] = {
        name: _as_text(value)
        for name, value in tree["fields"].items()
        if value is not None
    }
    return encode_command(Command(**members, body=_bytes_of(tree["body"], tree[KIND])))


def _as_text(value: object) -> str:
    if isinstance(value, Mapping):
        return _text_of(value)
    return value if isinstance(value, str) else str(value)


def _properties_of(text: str) -> dict[str, str]:
    return dict(
        pair.split(NAME_END, 1) for pair in text.split(VALUE_END) if NAME_END in pair
    )


def _text_of(properties: Mapping[str, object]) -> str:
    return "".join(
        f"{name}{NAME_END}{value}{VALUE_END}" for name, value in properties.items()
    )


def _body_of(body: bytes) -> tuple[Any, str]:
    if not body:
        return body, BYTES
    if body[:1] in b"{[":
        try:
            return fastjson.loads(body), JSON
        except LayoutError:
            return body, BYTES
    try:
        return _records_of(body), RECORDS
    except LayoutError:
        return _lines_of(body)


def _batch_of(body: bytes) -> tuple[Any, str]:
    """Return the messages of a batch, or *body* where it is something else."""
    try:
        messages = [asdict(one) for one in decode_batch(body)]
    except LayoutError:
        return body, BYTES
    for one in messages:
        one["properties"] = _properties_of(one["properties"])
    rows = [_in_batch(one) for one in messages]
    return (messages, BATCH) if b"".join(rows) == body else (body, BYTES)


def _in_batch(message: Mapping[str, Any]) -> bytes:
    """Return the bytes of a message in a batch."""
    properties = _text_of(message["properties"] or {})
    return encode_batch_message(BatchMessage(**{**message, "properties": properties}))


def _bytes_of(body: Any, kind: str) -> bytes:
    if isinstance(body, bytes):
        return body
    if kind == JSON:
        return fastjson.dumps(body)
    if kind == RECORDS:
        return b"".join(map(_encoded, body or []))
    if kind == BATCH:
        return b"".join(map(_in_batch, body or []))
    lines = (f"{name}={value}\n" for (name,), value in (body or {}).items())
    return "".join(lines).encode()


def _lines_of(body: bytes) -> tuple[Any, str]:
    """Return the map of ``key=value`` lines, or *body* where it is something else."""
    try:
        lines = body.decode().splitlines()
    except UnicodeDecodeError:
        return body, BYTES
    if not all("=" in line for line in lines):
        return body, BYTES
    pairs = (line.split("=", 1) for line in lines)
    return {(name,): value for name, value in pairs}, LINES


def _records_of(body: bytes) -> list[Tree]:
    records, begin = [], 0
    while begin < len(body):
        size = int.from_bytes(body[begin : begin + 4], signed=True)
        if not SMALLEST_SIZE <= size <= len(body) - begin:
            raise LayoutError(f"{size} bytes of a record", offset=begin)
        records.append(_record_of(body[begin : begin + size]))
        begin += size
    return records


def _record_of(data: bytes) -> Tree:
    parsed = parse(record_layout, data)
    record = {name: parsed[name] for name in parsed if not str(name).startswith("_")}
    for host in ("born_host", "store_host"):
        record[host] = {part: record[host][part] for part in ("address", "port")}
    record["topic"] = record["topic"].decode("utf-8", "surrogateescape")
    text = record["properties"].decode("utf-8", "surrogateescape")
    record["properties"] = _properties_of(text)
    return record


def _encoded(record: Mapping[str, Any]) -> bytes:
    """Return the bytes of *record*, whose size follows from its parts if it was right.

    A changed size stays as it is.
    """
    values = {
        name: value.encode("utf-8", "surrogateescape") if name == "topic" else value
        for name, value in record.items()
    }
    text = _text_of(record["properties"] or {})
    values["properties"] = text.encode("utf-8", "surrogateescape")
    for host in ("born_host", "store_host"):
        values[host] = Container(values[host])
    data = build(record_layout, Container(values))
    if record.get("size was changed"):
        return data
    return len(data).to_bytes(4) + data[4:]
