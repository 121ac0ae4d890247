"""
Decodable parts of a recorded file: the file itself and the structures in it.

Tests and fuzzing begin with bytes that a real release wrote, and most decoders read
less than a file. A frame has a header and a body. A commit log has records, those have
properties, and one of them may be a unique key.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from spec.layout import LayoutError
from spec.store.commit_log import scan
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import FileKind, store_file
from spec.store.index_file import HEADER_SIZE, ITEM_SIZE, SLOT_SIZE
from spec.store.message_record import Record, encode_record
from spec.wire.message.properties import Property, decode_properties
from spec.wire.remoting.command import decode_command
from spec.wire.remoting.frame import decode_frame

RECORDS = 3
"""Records of a commit log that are taken: of each kind there is another file."""
PIECE_SIZE = 4096
"""Bytes that are taken of a long file."""


def samples_of(path: str, data: bytes) -> Iterator[bytes]:
    """Yield the decodable parts of *data*, a recorded file of this *path*."""
    yield data[:PIECE_SIZE]
    if path.endswith(".bin"):
        yield from _in_frame(data)
        return
    try:
        kind = store_file(path).kind
    except LayoutError:
        return  # a release keeps files of its own beside those
    if kind is FileKind.COMMIT_LOG:
        for record in islice(_records(data), RECORDS):
            yield from _in_record(record)
    elif kind is FileKind.CONSUME_QUEUE:
        yield data[:UNIT_SIZE]
        yield data[: 3 * UNIT_SIZE]
    elif kind is FileKind.INDEX:
        yield data[:HEADER_SIZE]
        yield data[HEADER_SIZE : HEADER_SIZE + SLOT_SIZE]
        yield data[-ITEM_SIZE:]


def _records(data: bytes) -> Iterator[Record]:
    """Yield records of different topics, so that few are of every kind."""
    seen: set[str] = set()
    for placed in scan(data).records:
        if placed.record.topic not in seen:
            seen.add(placed.record.topic)
            yield placed.record


def _in_record(record: Record) -> Iterator[bytes]:
    yield encode_record(record)
    yield record.body
    yield _bytes(record.properties)
    yield _bytes(decode_properties(record.properties).get(Property.UNIQ_KEY, ""))


def _in_frame(data: bytes) -> Iterator[bytes]:
    frame = decode_frame(data)
    yield frame.header
    yield frame.body
    try:
        fields = decode_command(data).fields
    except LayoutError:
        return
    yield from (_bytes(value) for value in fields.values())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
