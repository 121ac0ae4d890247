"""
The reader of one record, for recovery, dispatch and the forecast of starts.

It reads field by field, because the first wrong field decides the treatment of a
damaged record. `RecoveryRules` selects the release whose broker reads
(Java: CommitLog#checkMessageAndReturnSize).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from struct import Struct, error
from typing import Any, NamedTuple

from reference.core.store.layouts import (
    BORN_V6,
    WIDE_HOSTS,
    blank_codec,
    record_size_reader,
)
from reference.core.store.recovery.rules import RecoveryRules
from reference.core.store.types import Queue
from spec.integers import body_crc
from spec.store.blank import BLANK_MAGIC
from spec.store.message_record import MAGIC_V1, MAGIC_V2, SystemFlag, record_codec
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

try:  # three times as fast as zlib's
    from isal.isal_zlib import crc32 as crc32
except ImportError:
    from zlib import crc32 as crc32

TRANSACTION_MASK = int(SystemFlag.TRANSACTION_ROLLBACK)
NOT_CONSUMABLE = (
    int(SystemFlag.TRANSACTION_PREPARED),
    int(SystemFlag.TRANSACTION_ROLLBACK),
)
"""Transaction types of the messages that enter no queue."""
ARRAY_SIZE_MAX = 2**31 - 3
"""A Java virtual machine makes no larger array, however much memory it has."""
_HOST_SIZE_MAX = 16 + 4
"""Bytes of an IPv6 address and a port: 4.6.0 reads hosts into a record-sized array."""
_SYSTEM_FLAGS, _STORED_AT = map(
    record_codec.names.index, ("system_flags", "stored_at_ms")
)
_scanned_fields = itemgetter(
    *map(
        record_codec.names.index,
        (
            "size",
            "body_crc",
            "queue_id",
            "queue_offset",
            "physical_offset",
            "system_flags",
            "stored_at_ms",
        ),
    )
)
"""Returns these of the values before the body."""
_MAGIC_AT = record_size_reader.size
_MAGIC_SIZE = blank_codec.size - _MAGIC_AT
_MAGICS = re.compile(
    b"|".join(re.escape(magic.to_bytes(4, "big")) for magic in (MAGIC_V1, MAGIC_V2))
)
_PIECE = 1 << 20


class ScannedRecord(NamedTuple):
    """The fields of a record that recovery and dispatch need."""

    size: int
    topic: bytes
    queue_id: int
    queue_offset: int
    physical_offset: int
    """As the record states it; a scan does not compare it with the record's place."""
    system_flags: int
    stored_at_ms: int
    properties: memoryview

    @property
    def is_consumable(self) -> bool:
        """Whether the record gets a unit: it is no half message and no rollback."""
        return self.system_flags & TRANSACTION_MASK not in NOT_CONSUMABLE

    @property
    def queue(self) -> Queue:
        """Topic and queue id."""
        return str(self.topic, "utf-8", "replace"), self.queue_id


class InvalidRecord(NamedTuple):
    """Bytes that are not a record."""

    reason: str
    size: int = -1
    """Above 0: the stated size of a record whose fields take another size. Dispatch
    skips that many bytes."""
    fields_size: int = 0
    """Bytes that the fields take, where *size* contradicts them."""


class Blank(NamedTuple):
    """The blank that ends a file."""


class ArrayTooLarge(NamedTuple):
    """A stated size for which 4.x allocates an array that no JVM can: it exits."""

    size: int


ReadResult = ScannedRecord | InvalidRecord | Blank | ArrayTooLarge
_BLANK = Blank()
NO_ROOM = InvalidRecord("the file ends within a record")


class _Structs(NamedTuple):
    """The runs of fixed fields of a record; body, topic and properties are between."""

    head: Struct
    """The fields before the body. Its size is the last value."""
    topic_size: Struct
    properties_size: Struct


@cache
def _structs(magic: int, hosts: int) -> _Structs:
    """Return the structs of records with *magic* and these IPv6 bits (WIDE_HOSTS)."""
    return _Structs(*(run.form for run in record_codec.plan((magic, hosts))))


def read_record(
    data: memoryview, at: int, rules: RecoveryRules, *, check_crc: bool
) -> ReadResult:
    """Return the record, or its substitute, at byte *at* of a commit-log file."""
    left = len(data) - at
    if left < blank_codec.size:
        return NO_ROOM
    size, magic = blank_codec.unpack_from(data, at)  # a record begins as a blank does
    if rules.checks_room and left < size:
        return InvalidRecord(f"a size of {size} with {left} bytes left")
    if magic == BLANK_MAGIC:
        return _BLANK  # [REC-SCAN-002]
    if magic not in rules.magics:  # [REC-SCAN-001]
        return InvalidRecord(f"the magic {magic:#010x}" if magic else "zeros")
    if rules.makes_any_array and size > ARRAY_SIZE_MAX:
        return ArrayTooLarge(size)
    structs = _structs(magic, 0)
    if left < structs.head.size or size < _HOST_SIZE_MAX:
        return NO_ROOM
    head = structs.head.unpack_from(data, at)
    if rules.supports_ipv6 and (hosts := head[_SYSTEM_FLAGS] & WIDE_HOSTS):
        structs = _structs(magic, hosts)
        if left < structs.head.size:
            return NO_ROOM
        head = structs.head.unpack_from(data, at)
    return _read_sized_fields(data, at, structs, head, rules, check_crc=check_crc)


def _read_sized_fields(
    data: memoryview,
    at: int,
    structs: _Structs,
    head: tuple[Any, ...],
    rules: RecoveryRules,
    *,
    check_crc: bool,
) -> ReadResult:
    """Return the record at *at*, whose fields before the body are *head*.

    Releases read a negative size as 0 or refuse it (RecoveryRules).
    """
    size, crc, queue_id, queue_offset, physical_offset, flags, stored_at_ms = (
        _scanned_fields(head)
    )
    body_size = head[-1]
    body_at = at + structs.head.size
    topic_at = body_at + max(body_size, 0)
    if body_size > size or topic_at + structs.topic_size.size + 2 > len(data):
        return NO_ROOM
    # [REC-SCAN-005]
    if check_crc and body_size > 0 and body_crc(data[body_at:topic_at], crc32) != crc:
        return InvalidRecord("the body's checksum")
    (topic_size,) = structs.topic_size.unpack_from(data, topic_at)
    topic_at += structs.topic_size.size
    properties_at = topic_at + topic_size + structs.properties_size.size
    if not 0 <= topic_size <= size or properties_at > len(data):
        return InvalidRecord(f"a topic of {topic_size} bytes")
    length_at = topic_at + topic_size
    topic = bytes(data[topic_at:length_at])
    (properties_size,) = structs.properties_size.unpack_from(data, length_at)
    if min(body_size, properties_size) < 0 and not rules.reads_negative_as_zero:
        return InvalidRecord("a negative size")  # [REC-SCAN-006]
    end = properties_at + max(properties_size, 0)
    if properties_size > size or end > len(data):
        return NO_ROOM
    properties = data[properties_at:end]
    if not _are_numbers(topic, properties, rules):
        return InvalidRecord("a property that is no number")
    if end - at != size:  # [REC-SCAN-003]
        reason = f"a size of {size} with fields of {end - at} bytes"
        return InvalidRecord(reason, size, end - at)
    return ScannedRecord(
        size,
        topic,
        queue_id,
        queue_offset,
        physical_offset,
        flags,
        stored_at_ms,
        properties,
    )


def _are_numbers(topic: bytes, properties: memoryview, rules: RecoveryRules) -> bool:
    """Return whether the properties that a scan parses as integers are integers."""
    if rules.parses_delay_levels and topic == SCHEDULE_TOPIC.encode():
        values = decode_properties(str(properties, "utf-8", "replace"))
        level = values.get(Property.DELAY)
        return level is None or _is_integer(level, 2**31)
    if rules.checks_room and b"INNER_NUM" in bytes(properties):
        values = decode_properties(str(properties, "utf-8", "replace"))
        if "INNER_NUM" in values and "INNER_BASE" in values:
            return _is_integer(values["INNER_NUM"], 2**15) and _is_integer(
                values["INNER_BASE"], 2**63
            )
    return True


def _is_integer(text: str, limit: int) -> bool:
    try:
        return -limit <= int(text) < limit and "_" not in text
    except ValueError:
        return False


def stored_at_of(record: memoryview, *, supports_ipv6: bool = True) -> int:
    """Return the store time of *record* in milliseconds, 0 if it is too short."""
    try:
        head = _structs(MAGIC_V1, 0).head.unpack_from(record)
        if supports_ipv6 and head[_SYSTEM_FLAGS] & BORN_V6:
            head = _structs(MAGIC_V1, BORN_V6).head.unpack_from(record)
    except error:
        return 0
    return int(head[_STORED_AT])


def places_before_magics(data: memoryview, begin: int) -> Iterator[int]:
    """Yield the positions from *begin* on at which a record may begin, by its magic."""
    magic_at = begin + _MAGIC_AT
    while magic_at < len(data):
        piece = bytes(data[magic_at : magic_at + _PIECE + _MAGIC_SIZE - 1])
        for found in _MAGICS.finditer(piece):
            yield magic_at - _MAGIC_AT + found.start()
        magic_at += _PIECE
