"""
The extension of a consume queue holds data that exceeds a unit of 20 bytes.

A broker with enableConsumeQueueExt writes one extension unit for each message. It has
the tags code, the store time and a bit map of the SQL92 subscriptions that the message
may match. The consume queue's own unit then has an address in the extension as its tags
code. The files can be rebuilt like those of the consume queue. The setting is off by
default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from construct import GreedyBytes, Int16sb, Int64sb, Prefixed, Struct

from spec.clause import Clause, Level
from spec.integers import INT16_MAX, INT64_MIN
from spec.layout import LayoutError, build, field, parse
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX

EXTENSION = "consumequeue_ext"
"""The directory of a store that has the files, as TOPIC/QUEUE/OFFSET."""
FILE_SIZE_DEFAULT = 48 * 1024 * 1024
"""Bytes of a file by default (mappedFileSizeConsumeQueueExt)."""
SMALLEST_SIZE = 20
"""Bytes of a unit without a bit map (Java: MIN_EXT_UNIT_SIZE)."""
SIZE_MAX = INT16_MAX
END_SIZE = 4
"""Bytes that stay free at the end of a file (Java: END_BLANK_DATA_LENGTH)."""
END_MARK = -1
"""Stands for a size where the rest of a file is not used."""
OFFSET_MAX = EXTENSION_ADDRESS_MAX - INT64_MIN
"""The highest offset that an address can stand for (Java: MAX_REAL_OFFSET)."""

_EXT = "4.6.0 org.apache.rocketmq.store.ConsumeQueueExt"

EXTENSION_SIZE = Clause(
    id="STORE-EXTENSION-001",
    level=Level.MUST,
    text="An extension unit begins with its own size in 2 bytes, 20 more than its bit"
    " map has.",
    source=f"{_EXT}$CqExtUnit#MIN_EXT_UNIT_SIZE",
)
EXTENSION_FIELDS = Clause(
    id="STORE-EXTENSION-002",
    level=Level.MUST,
    text="After an extension unit's size come the tags code and the store time in 8"
    " bytes each, and the bit map after its 2-byte size.",
    source=f"{_EXT}$CqExtUnit#write",
)
EXTENSION_ADDRESS = Clause(
    id="STORE-EXTENSION-003",
    level=Level.MUST,
    text="In a queue with an extension a unit's tags code is the offset of its"
    " extension unit minus 2**63.",
    source=f"{_EXT}#decorate",
    hints=(("the tags code is a hash", "is enableConsumeQueueExt on in the broker?"),),
)
EXTENSION_TAGS_CODE = Clause(
    id="STORE-EXTENSION-004",
    level=Level.MUST,
    text="An extension unit's tags code is the one that its message's unit would have"
    " without an extension.",
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper",
)
EXTENSION_STORE_TIME = Clause(
    id="STORE-EXTENSION-005",
    level=Level.MUST,
    text="An extension unit's store time is that of its message's record.",
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper",
)
EXTENSION_ROLLS = Clause(
    id="STORE-EXTENSION-006",
    level=Level.MUST,
    text="An extension unit that would leave less than 4 bytes of its file goes to the"
    " next, and two bytes 255 take its place.",
    source=f"{_EXT}#put",
)
EXTENSION_PLACE = Clause(
    id="STORE-EXTENSION-007",
    level=Level.MUST,
    text="The files of an extension lie in consumequeue_ext/TOPIC/QUEUE, each named"
    " after the offset of its first byte.",
    source=f"{_EXT}#ConsumeQueueExt",
)
EXTENSION_BITS = Clause(
    id="STORE-EXTENSION-008",
    level=Level.MAY,
    text="The bit map is empty unless enableCalcFilterBitMap is on.",
    source="4.6.0 org.apache.rocketmq.broker.filter"
    ".CommitLogDispatcherCalcBitMap#dispatch",
)
EXTENSION_BITS_SIZE = Clause(
    id="STORE-EXTENSION-009",
    level=Level.QUIRK,
    text=(
        "The bit map has as many bits as the filter for expectConsumerNumUseFilter "
        "groups, 112 by default, regardless of bitMapLengthConsumeQueueExt."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterManager"
    "#ConsumerFilterManager",
)
EXTENSION_BITS_SET = Clause(
    id="STORE-EXTENSION-010",
    level=Level.MUST,
    text=(
        "The bit map of a message has the bits set that consumerFilter.json lists "
        "for each group whose expression matches the message. Bit n has the value "
        "2**(n modulo 8) in byte n over 8."
    ),
    source="4.6.0 org.apache.rocketmq.filter.util.BitsArray#setBit",
)
EXTENSION_OF_REPEATED = Clause(
    id="STORE-EXTENSION-011",
    level=Level.QUIRK,
    text=(
        "A message that is dispatched again, after a crash, gets a second extension "
        "unit, at which nothing points. An extension is not truncated when its queue "
        "is truncated to the log."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper",
)
EXTENSION_END = Clause(
    id="STORE-EXTENSION-012",
    level=Level.MUST,
    text=(
        "A start truncates an extension behind the extension unit of the queue's "
        "last unit that has an extension address."
    ),
    source=f"{_EXT}#truncateByMaxAddress",
)
EXTENSION_BEGIN = Clause(
    id="STORE-EXTENSION-013",
    level=Level.MUST,
    text=(
        "An extension file is deleted if it ends before the extension unit of the "
        "queue's first remaining message."
    ),
    source=f"{_EXT}#truncateByMinAddress",
)
EXTENSION_LOST = Clause(
    id="STORE-EXTENSION-014",
    level=Level.QUIRK,
    text=(
        "A message whose extension address has no extension unit is returned to "
        "pulls of any tag."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage",
)

extension_unit_layout = Struct(
    field("size", Int16sb, "bytes of this unit; 0 not written, -1 end of the file"),
    field("tags_code", Int64sb, "hash of the tag, or when a delayed message is due"),
    field("stored_at_ms", Int64sb, "store time of the record (Java: msgStoreTime)"),
    field("filter_bits", Prefixed(Int16sb, GreedyBytes), "bit map of subscriptions"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionUnit:
    """Extension of a consume-queue unit, in consumequeue_ext (Java: CqExtUnit)."""

    tags_code: int = 0
    stored_at_ms: int
    filter_bits: bytes = b""
    """Bits of a Bloom filter over consumer groups (Java: filterBitMap)."""


def encode_extension_unit(unit: ExtensionUnit) -> bytes:
    """Return the bytes of *unit*."""
    size = SMALLEST_SIZE + len(unit.filter_bits)
    if size > SIZE_MAX:
        reason = f"{size} bytes, an extension unit has at most {SIZE_MAX}"
        raise LayoutError(reason, field="size")
    values = {name: getattr(unit, name) for name in ExtensionUnit.__slots__}
    return build(extension_unit_layout, values | {"size": size})


def decode_extension_unit(data: bytes | memoryview) -> ExtensionUnit:
    """Return the unit that begins *data*; ignore later bytes."""
    size = int.from_bytes(data[:2], "big", signed=True) if len(data) >= 2 else 0
    if not SMALLEST_SIZE <= size <= len(data):
        reason = f"{size} is not between {SMALLEST_SIZE} and the {len(data)} bytes left"
        raise LayoutError(reason, field="size")
    parsed = parse(extension_unit_layout, data[:size])
    if SMALLEST_SIZE + len(parsed.filter_bits) != size:
        reason = f"{size} bytes, but the bit map has {len(parsed.filter_bits)}"
        raise LayoutError(reason, field="size")
    return ExtensionUnit(**{name: parsed[name] for name in ExtensionUnit.__slots__})


def decode_extension_units(data: bytes | memoryview) -> dict[int, ExtensionUnit]:
    """Return the units of a file by their place in it, up to the end mark or zeros."""
    view = memoryview(data)  # slices of bytes would copy the rest for each unit
    found: dict[int, ExtensionUnit] = {}
    position = 0
    while position + 2 <= len(data):
        if int.from_bytes(data[position : position + 2], "big", signed=True) <= 0:
            break
        try:
            unit = decode_extension_unit(view[position:])
        except LayoutError as error:
            raise error.moved(position) from error
        found[position] = unit
        position += SMALLEST_SIZE + len(unit.filter_bits)
    return found


def extension_address(offset: int) -> int:
    """Return the tags code for *offset*, in bytes over all files of an extension.

    Raises LayoutError for an offset without a tags code.
    """
    if not 0 <= offset <= OFFSET_MAX:
        raise LayoutError(f"{offset} is not an offset that an address can have")
    return offset + INT64_MIN


def offset_of_address(tags_code: int) -> int:
    """Return the offset, in bytes, of the address *tags_code*.

    Raises LayoutError for a tags code that is not an address.
    """
    if not INT64_MIN <= tags_code <= EXTENSION_ADDRESS_MAX:
        raise LayoutError(f"{tags_code} is a tags code, not an address")
    return tags_code - INT64_MIN


def has_bits(filter_bits: bytes, positions: Iterable[int]) -> bool:
    """Return whether the bits at all *positions* are set; one beyond the end is not."""
    return all(
        0 <= n < 8 * len(filter_bits) and filter_bits[n // 8] >> n % 8 & 1
        for n in positions
    )
