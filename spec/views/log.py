"""Views of what a commit log holds: message records, and the blanks between."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clause import release_key
from spec.store import blank as blanks
from spec.store import message_record as records
from spec.store.blank import blank_layout, decode_blank
from spec.store.message_record import (
    BadChecksumError,
    Record,
    SystemFlag,
    decode_record,
    record_layout,
    size_of_record,
)
from spec.views.ids import maker_of
from spec.views.view import (
    FieldClauses,
    Reading,
    Recognition,
    note,
    paragraphs,
    safe,
    to_know,
    tree,
    wrong_notes,
)
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import Property, decode_properties

COMPRESSIONS = ("zlib", "LZ4", "Zstandard", "zlib")
"""Compression types by bits 8 to 10 of the system flags."""
SPLITS_ONCE_SINCE = (4, 9, 1)
"""The release since which a property's value may hold a separator."""

RECORD_CLAUSES: FieldClauses = {
    "size": (records.RECORD_BEGINS_WITH_SIZE,),
    "magic": (records.RECORD_MAGIC, records.RECORD_MAGIC_V2),
    "body_crc": (records.RECORD_CRC,),
    "flag": (records.RECORD_FLAG,),
    "queue_offset": (records.RECORD_QUEUE_OFFSET,),
    "physical_offset": (records.RECORD_PHYSICAL_OFFSET,),
    "system_flags": (records.RECORD_UNKNOWN_FLAGS,),
    "born_at_ms": (records.RECORD_BORN,),
    "born_host.address": (records.RECORD_HOSTS, records.RECORD_HOSTS_V4),
    "store_host.address": (
        records.RECORD_HOSTS,
        records.RECORD_HOSTS_V4,
        records.RECORD_STORE_HOST,
    ),
    "prepared_transaction_offset": (records.RECORD_HALF_OFFSET,),
    "body": (records.RECORD_BODY_SIZE, records.RECORD_BODY_UNTOUCHED),
    "topic": (records.RECORD_TOPIC_SIZE,),
    "properties": (records.RECORD_PROPERTIES_SIZE,),
}
BLANK_CLAUSES: FieldClauses = {
    "size": (blanks.BLANK_SIZE,),
    "magic": (blanks.BLANK_MAGIC_CLAUSE,),
    "": (blanks.BLANK_WHEN, blanks.BLANK_REST),
}


def record_view(
    data: bytes, position: int, reading: Reading, place: int | None = None
) -> Recognition:
    """Return the view of a record; *place* is where it lies in the commit log."""
    size = size_of_record(data)
    wrong: dict[str, str] = {}
    try:
        record = decode_record(data)
    except BadChecksumError as error:
        record, wrong = decode_record(data, check_crc=False), {"body_crc": error.reason}
    if place is not None and record.physical_offset != place:
        wrong["physical_offset"] = f"the record lies at {place}"
    text = tree(
        record_layout,
        data[:size],
        reading,
        RECORD_CLAUSES,
        wrong=wrong,
        base=position,
    )
    notes = [*wrong_notes(wrong), *_record_notes(record, reading)]
    return Recognition(
        kind="message record",
        text=paragraphs(text, notes, to_know(RECORD_CLAUSES, reading)),
        size=size,
        is_sound=not wrong,
    )


def _record_notes(record: Record, reading: Reading) -> Iterator[str]:
    place = encode_message_id(record.store_host, record.physical_offset)
    yield note(" ", "message id", place)
    if record.system_flags & SystemFlag.COMPRESSED:
        kind = record.system_flags >> 8 & 7
        named = COMPRESSIONS[kind] if kind < len(COMPRESSIONS) else f"kind {kind}"
        yield note(" ", "body", f"compressed, {named}")
    for name, value in properties_of(record.properties, reading).items():
        made = maker_of(value) if name == Property.UNIQ_KEY else ""
        yield f"    {safe(name)} = {safe(value)}" + (f"  # {made}" if made else "")


def properties_of(text: str, reading: Reading) -> dict[str, str]:
    """Return the properties that *text* holds for the release of *reading*."""
    release = reading.release
    late = release is not None and release_key(release) >= SPLITS_ONCE_SINCE
    return decode_properties(text, splits_once=late)


def blank_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a blank."""
    blank = decode_blank(data)
    head = data[: blank_layout.sizeof()]
    text = tree(blank_layout, head, reading, BLANK_CLAUSES, base=position)
    known = to_know(BLANK_CLAUSES, reading)
    return Recognition(kind="blank", text=paragraphs(text, known), size=blank.size)
