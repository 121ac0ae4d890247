"""
What recovery takes for a record, and where its scan of the commit log ends.

A scan reads one record after the other. It goes to the next file where it meets a
blank, and ends before the first thing that is neither: what lies behind that, good
records too, is cut off. A start asks `read_record` as the broker of its release would
(Java: CommitLog#checkMessageAndReturnSize).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import NamedTuple

from reference.core.store.api import SCHEDULE_TOPIC
from reference.core.store.records import (
    BORN_V6,
    NOT_CONSUMABLE,
    STORE_V6,
    TRANSACTION_MASK,
)
from reference.core.store.recovery_rules import RecoveryRules
from spec.integers import body_crc
from spec.store.blank import BLANK_MAGIC
from spec.store.message_record import MAGIC_V2
from spec.wire.properties import Property, decode_properties

_WORDS = Struct(">iI")
_HEAD = Struct(">iIIiiqqiq")
_TIME = Struct(">q")
_TAIL = Struct(">iqi")
_HEAD_V4 = Struct(">iIIiiqqiq8sq8siqi")
_BYTE = Struct(">b")
_SHORT = Struct(">h")

ARRAY_SIZE_MAX = 2**31 - 3
"""A virtual machine makes no larger array, however much memory it has."""


class Sighted(NamedTuple):
    """A record as a scan sees it: what is needed to count it."""

    size: int
    topic: bytes
    queue_id: int
    queue_offset: int
    physical_offset: int
    """What the record says; nobody compares it with the record's place."""
    system_flags: int
    stored_at_ms: int
    properties: memoryview

    @property
    def is_consumable(self) -> bool:
        """Whether it gets a unit: it is no half message and no rollback."""
        return self.system_flags & TRANSACTION_MASK not in NOT_CONSUMABLE


class Refused(NamedTuple):
    """There is no record here."""

    why: str
    size: int = -1
    """More than 0: it contradicts itself; dispatch counts so many bytes as read."""
    fields_size: int = 0
    """What its fields take, if it contradicts itself."""


class Blank(NamedTuple):
    """The file ends here."""


class ArrayTooLarge(NamedTuple):
    """4.x makes an array of a size that no virtual machine can: the broker ends."""

    size: int


Seen = Sighted | Refused | Blank | ArrayTooLarge
_BLANK = Blank()
_NO_ROOM = Refused("the file ends within a record")


def read_record(
    data: memoryview, at: int, rules: RecoveryRules, *, check_crc: bool
) -> Seen:
    """Return what a broker finds at the byte *at* of a commit-log file."""
    rest = len(data) - at
    if rest < _WORDS.size:
        return _NO_ROOM
    size, magic = _WORDS.unpack_from(data, at)
    if rules.checks_room and rest < size:
        return Refused(f"a size of {size} with {rest} bytes left")
    if magic == BLANK_MAGIC:
        return _BLANK
    if magic not in rules.magics:
        return Refused(f"the magic {magic:#010x}" if magic else "zeros")
    if rules.makes_any_array and size > ARRAY_SIZE_MAX:
        return ArrayTooLarge(size)
    if rest < _HEAD_V4.size or size < 20:
        return _NO_ROOM
    values = _HEAD_V4.unpack_from(data, at)
    if rules.knows_v6 and values[7] & (BORN_V6 | STORE_V6):
        return _read_v6(data, at, rules, check_crc=check_crc)
    head = (*values[:8], values[10], values[14])
    return _read_rest(data, at, at + 88, head, rules, check_crc=check_crc)


def _read_v6(
    data: memoryview, at: int, rules: RecoveryRules, *, check_crc: bool
) -> Seen:
    """Return the record at *at*, one host of which has 16 bytes."""
    values = _HEAD.unpack_from(data, at)
    time_at = at + _HEAD.size + (20 if values[7] & BORN_V6 else 8)
    tail_at = time_at + 8 + (20 if values[7] & STORE_V6 else 8)
    if tail_at + _TAIL.size > len(data):
        return _NO_ROOM
    (stored_at_ms,) = _TIME.unpack_from(data, time_at)
    _, _, body_size = _TAIL.unpack_from(data, tail_at)
    head = (*values[:8], stored_at_ms, body_size)
    return _read_rest(data, at, tail_at + 16, head, rules, check_crc=check_crc)


def _read_rest(
    data: memoryview,
    at: int,
    body_at: int,
    head: tuple[int, ...],
    rules: RecoveryRules,
    *,
    check_crc: bool,
) -> Seen:
    """Return the record whose body begins at *body_at*; a negative size is 0."""
    size, magic, crc, queue_id, _, queue_offset, place, flags, stored_at_ms, body = head
    topic_at = body_at + max(body, 0)
    if body > size or topic_at + 3 > len(data):
        return _NO_ROOM
    if check_crc and body > 0 and body_crc(bytes(data[body_at:topic_at])) != crc:
        return Refused("the body's checksum")
    length = _SHORT if magic == MAGIC_V2 else _BYTE
    (topic_size,) = length.unpack_from(data, topic_at)
    topic_at += length.size
    length_at = topic_at + topic_size
    if not 0 <= topic_size <= size or length_at + 2 > len(data):
        return Refused(f"a topic of {topic_size} bytes")
    (properties_size,) = _SHORT.unpack_from(data, length_at)
    if min(body, properties_size) < 0 and not rules.reads_negative_as_zero:
        return Refused("a negative size")  # [REC-SCAN-006]
    end = length_at + 2 + max(properties_size, 0)
    if properties_size > size or end > len(data):
        return _NO_ROOM
    topic, properties = bytes(data[topic_at:length_at]), data[length_at + 2 : end]
    if not _words_are_numbers(topic, properties, rules):
        return Refused("a property that is no number")
    if end - at != size:
        why = f"a size of {size} with fields of {end - at} bytes"
        return Refused(why, size, end - at)
    return Sighted(
        size, topic, queue_id, queue_offset, place, flags, stored_at_ms, properties
    )


def _words_are_numbers(
    topic: bytes, properties: memoryview, rules: RecoveryRules
) -> bool:
    """Return whether the properties that a scan reads as numbers are some."""
    if topic == SCHEDULE_TOPIC.encode():
        level = decode_properties(str(properties, "utf-8", "replace")).get(
            Property.DELAY
        )
        return level is None or _is_number(level, 2**31)
    if rules.checks_room and b"INNER_NUM" in bytes(properties):
        words = decode_properties(str(properties, "utf-8", "replace"))
        if "INNER_NUM" in words and "INNER_BASE" in words:
            return _is_number(words["INNER_NUM"], 2**15) and _is_number(
                words["INNER_BASE"], 2**63
            )
    return True


def _is_number(text: str, limit: int) -> bool:
    try:
        return -limit <= int(text) < limit and "_" not in text
    except ValueError:
        return False


class ScanEnd(NamedTuple):
    """Where and why a scan of the log ended."""

    end: int
    """The next message is written here."""
    last_file: int
    """Number of the file in which it ended."""
    stopped: Refused | ArrayTooLarge | None
    """What stood there; None when the last file ends with its blank."""


def _nothing_ahead(base: int, data: memoryview, at: int) -> int:
    """Return *at*: every record is read here."""
    del base, data
    return at


def scan_log(
    bases: Sequence[int],
    first: int,
    open_file: Callable[[int], memoryview],
    rules: RecoveryRules,
    *,
    check_crc: bool,
    take: Callable[[int, Sighted], None],
    ahead: Callable[[int, memoryview, int], int] = _nothing_ahead,
) -> ScanEnd:
    """Read the files from number *first* on and give *take* each record and its place.

    *ahead* may pass over sound records that it takes itself: given where a file begins,
    its bytes and the place of the next record, it returns the place behind them.
    4.6.0 org.apache.rocketmq.store.CommitLog#recoverNormally. Files follow one another
    as they lie there, whatever is missing between them. [REC-SCAN-001]
    """
    base = bases[first]
    for number in range(first, len(bases)):
        base, at = bases[number], 0
        data = open_file(base)
        while True:
            at = ahead(base, data, at)
            seen = read_record(data, at, rules, check_crc=check_crc)
            if not isinstance(seen, Sighted):
                break
            take(base + at, seen)
            at += seen.size
        if not isinstance(seen, Blank):
            return ScanEnd(base + at, number, seen)
    # Behind the last file's blank nothing can follow, so the log ends before it.
    return ScanEnd(base + at, len(bases) - 1, None)
