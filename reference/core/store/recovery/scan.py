"""
The scan of recovery: reads the commit log record by record up to its physical end.

A scan goes to the next file at a blank and ends before the first bytes that are
neither record nor blank. Sound records behind that place are truncated too.
`read_record` decides as the broker of a release does
(Java: CommitLog#checkMessageAndReturnSize).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from reference.core.store.commitlog.record_codec import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
)
from reference.core.store.commitlog.record_fields import (
    FIELD,
    HOSTS_V6,
    RecordStructs,
    record_structs,
)
from reference.core.store.layouts import blank_codec
from reference.core.store.recovery.rules import RecoveryRules
from spec.integers import body_crc
from spec.store.blank import BLANK_MAGIC
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

ARRAY_SIZE_MAX = 2**31 - 3
"""A Java virtual machine makes no larger array, however much memory it has."""
_HOST_SIZE_MAX = 16 + 4
"""Bytes of an IPv6 address and a port: 4.6.0 reads hosts into a record-sized array."""
_FLAGS, _STORED_AT = FIELD["system_flags"], FIELD["stored_at_ms"]


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
_NO_ROOM = InvalidRecord("the file ends within a record")


def read_record(
    data: memoryview, at: int, rules: RecoveryRules, *, check_crc: bool
) -> ReadResult:
    """Return the record, or its substitute, at byte *at* of a commit-log file."""
    left = len(data) - at
    if left < blank_codec.size:
        return _NO_ROOM
    size, magic = blank_codec.unpack_from(data, at)  # a record begins as a blank does
    if rules.checks_room and left < size:
        return InvalidRecord(f"a size of {size} with {left} bytes left")
    if magic == BLANK_MAGIC:
        return _BLANK
    if magic not in rules.magics:
        return InvalidRecord(f"the magic {magic:#010x}" if magic else "zeros")
    if rules.makes_any_array and size > ARRAY_SIZE_MAX:
        return ArrayTooLarge(size)
    structs = record_structs(magic, 0)
    if left < structs.head.size or size < _HOST_SIZE_MAX:
        return _NO_ROOM
    values = structs.head.unpack_from(data, at)
    if rules.supports_ipv6 and (hosts := values[_FLAGS] & HOSTS_V6):
        structs = record_structs(magic, hosts)
        if left < structs.head.size:
            return _NO_ROOM
        values = structs.head.unpack_from(data, at)
    return _read_sized_fields(data, at, structs, values, rules, check_crc=check_crc)


def _read_sized_fields(
    data: memoryview,
    at: int,
    structs: RecordStructs,
    head: tuple[int, ...],
    rules: RecoveryRules,
    *,
    check_crc: bool,
) -> ReadResult:
    """Return the record at *at*, whose fields before the body are *head*.

    Releases read a negative size as 0 or refuse it (RecoveryRules).
    """
    size, _, crc, queue_id, _, queue_offset, physical_offset, flags, *_, body = head
    body_at = at + structs.head.size
    topic_at = body_at + max(body, 0)
    if body > size or topic_at + structs.topic_size.size + 2 > len(data):
        return _NO_ROOM
    if check_crc and body > 0 and body_crc(bytes(data[body_at:topic_at])) != crc:
        return InvalidRecord("the body's checksum")
    (topic_size,) = structs.topic_size.unpack_from(data, topic_at)
    topic_at += structs.topic_size.size
    properties_at = topic_at + topic_size + structs.properties_size.size
    if not 0 <= topic_size <= size or properties_at > len(data):
        return InvalidRecord(f"a topic of {topic_size} bytes")
    topic = bytes(data[topic_at : topic_at + topic_size])
    length_at = topic_at + topic_size
    (properties_size,) = structs.properties_size.unpack_from(data, length_at)
    if min(body, properties_size) < 0 and not rules.reads_negative_as_zero:
        return InvalidRecord("a negative size")  # [REC-SCAN-006]
    end = properties_at + max(properties_size, 0)
    if properties_size > size or end > len(data):
        return _NO_ROOM
    properties = data[properties_at:end]
    if not _are_numbers(topic, properties, rules):
        return InvalidRecord("a property that is no number")
    if end - at != size:
        reason = f"a size of {size} with fields of {end - at} bytes"
        return InvalidRecord(reason, size, end - at)
    stored_at_ms = head[_STORED_AT]
    return ScannedRecord(
        *(size, topic, queue_id, queue_offset, physical_offset, flags, stored_at_ms),
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


class ScanResult(NamedTuple):
    """The place and the reason of a scan's end."""

    physical_end: int
    """Commit-log offset of the next message."""
    last_file: int
    """Index of the file in which the scan ended."""
    stopped_by: InvalidRecord | ArrayTooLarge | None
    """None where the last file ends with its blank."""


class BulkScanner(Protocol):
    """Reads many sound records in one step, and dispatches them if recovery does."""

    def __call__(self, base: int, data: memoryview, position: int) -> int:
        """Return the position behind the records read from *position* on.

        *data* is the file that begins at commit-log offset *base*. The result is
        *position* itself where the next record has to be read by `read_record`.
        """
        ...


def scan_log(
    bases: Sequence[int],
    first: int,
    open_file: Callable[[int], memoryview],
    rules: RecoveryRules,
    *,
    check_crc: bool,
    on_record: Callable[[int, ScannedRecord], None],
    bulk_scanner: BulkScanner | None = None,
) -> ScanResult:
    """Read the files from index *first* on; call *on_record* with offset and record.

    Records that *bulk_scanner* reads are not passed to *on_record*.
    4.6.0 org.apache.rocketmq.store.CommitLog#recoverNormally: files are read in the
    order of their names, also across missing files. [REC-SCAN-001]
    """
    base = bases[first]
    for number in range(first, len(bases)):
        base, at = bases[number], 0
        data = open_file(base)
        while True:
            if bulk_scanner is not None:
                at = bulk_scanner(base, data, at)
            found = read_record(data, at, rules, check_crc=check_crc)
            if not isinstance(found, ScannedRecord):
                break
            on_record(base + at, found)
            at += found.size
        if not isinstance(found, Blank):
            return ScanResult(base + at, number, found)
    # Behind the last file's blank nothing can follow, so the log ends before it.
    return ScanResult(base + at, len(bases) - 1, None)
