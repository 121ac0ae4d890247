"""
A unique key is the id that a producer gives a message before sending it.

It is in the property UNIQ_KEY (clients call it the message's id, Java: msgId). Its
parts are address, process, class loader, milliseconds since the month began, and a
counter. Brokers index it and otherwise never read it; a producer in another language
may put any text there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from construct import Bytes, Int16ub, Int32sb, Int32ub, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse
from spec.wire.message.message_id import bytes_of_hex

_SETTER = "org.apache.rocketmq.common.message.MessageClientIDSetter"
_ONLY_CLIENTS = "producers make it; the client suite looks at what they send"

UNIQUE_KEY_FORM = Clause(
    id="CLIENT-UNIQKEY-001",
    level=Level.MUST,
    text="A unique key is an IPv4 address, 2 bytes of process id, 4 of class loader"
    " hash, 4 of milliseconds and a 2-byte counter, in 32 upper-case hex digits.",
    source=f"4.4.0 {_SETTER}#createUniqID",
)
UNIQUE_KEY_FORM_V6 = Clause(
    id="CLIENT-UNIQKEY-002",
    level=Level.MUST,
    text="From 4.6 on, a unique key of a host with an IPv6 address has 56 hex digits.",
    source=f"4.6.0 {_SETTER}#createUniqID",
    since="4.6",
    untestable=_ONLY_CLIENTS,
)
UNIQUE_KEY_PROCESS_LOW = Clause(
    id="CLIENT-UNIQKEY-003",
    level=Level.MUST,
    text=(
        "From 4.7 on, the process id in a unique key is the low 16 bits of the real "
        "one."
    ),
    source=f"4.9.7 {_SETTER}#FIX_STRING",
    since="4.7",
    untestable=_ONLY_CLIENTS,
)
UNIQUE_KEY_PROCESS_HIGH = Clause(
    id="CLIENT-UNIQKEY-004",
    level=Level.QUIRK,
    text=(
        "In 4.6, the process id in a unique key is the high 16 bits of the real one, "
        "mostly 0: two processes of one host can make the same key."
    ),
    source=f"4.6.0 {_SETTER}#FIX_STRING",
    since="4.6",
    until="4.6",
    untestable=_ONLY_CLIENTS,
)
UNIQUE_KEY_PROCESS_LOW_BEFORE = Clause(
    id="CLIENT-UNIQKEY-005",
    level=Level.MUST,
    text=(
        "Up to 4.5, the process id in a unique key is the low 16 bits of the real one."
    ),
    source=f"4.4.0 {_SETTER}#FIX_STRING",
    until="4.5",
    untestable=_ONLY_CLIENTS,
)
UNIQUE_KEY_TIME = Clause(
    id="CLIENT-UNIQKEY-006",
    level=Level.MUST,
    text="The time in a unique key counts milliseconds from the beginning of the month"
    " in the producer's time zone.",
    source=f"4.6.0 {_SETTER}#setStartTime",
    untestable=_ONLY_CLIENTS,
)
UNIQUE_KEY_WHEN = Clause(
    id="CLIENT-UNIQKEY-008",
    level=Level.SHOULD,
    text=(
        "A query by unique key searches from the beginning of this month plus the "
        "key's time, or of last month if that is in the future. Older messages are "
        "not found."
    ),
    source=f"4.6.0 {_SETTER}#getNearlyTimeFromID",
    untestable="only those who ask reckon so; the client suite looks at them",
)
UNIQUE_KEY_STAYS = Clause(
    id="CLIENT-UNIQKEY-007",
    level=Level.MUST,
    text="A broker stores and hands out a UNIQ_KEY of any form unchanged.",
    source=f"4.6.0 {_SETTER}#getUniqID",
)


def _layout(address_size: int) -> Struct:
    return Struct(
        field("address", Bytes(address_size), "the producer's address"),
        field("process_id", Int16ub, "16 bits of it, which 16 differs by release"),
        field("class_loader_hash", Int32sb, "tells programs in one process apart"),
        field("since_month_ms", Int32ub, "since the month began in local time"),
        field("counter", Int16ub, "one more for every key, from 0 after 65535"),
    )


unique_key_layout = _layout(4)
unique_key_v6_layout = _layout(16)
assert unique_key_layout.sizeof() == 16
assert unique_key_v6_layout.sizeof() == 28


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """Maker, time and number of a unique key."""

    address: bytes
    """4 or 16 bytes; 4.4 and 4.5 have 4 only."""
    process_id: int
    """The low 16 bits of it; in 4.6 the high 16, which are mostly 0."""
    class_loader_hash: int
    since_month_ms: int
    counter: int


def encode_unique_key(key: UniqueKey) -> str:
    """Return *key* as the string that the property UNIQ_KEY holds."""
    values = {name: getattr(key, name) for name in UniqueKey.__slots__}
    is_v6 = len(key.address) == 16
    layout = unique_key_v6_layout if is_v6 else unique_key_layout
    return build(layout, values).hex().upper()


def decode_unique_key(text: str) -> UniqueKey:
    """Return the content of the unique key *text*, made by a Java client."""
    data = bytes_of_hex(text)
    parsed: Any = parse(layout_of_unique_key(data), data)
    values = {name: parsed[name] for name in UniqueKey.__slots__}
    return UniqueKey(**values)


def layout_of_unique_key(data: bytes) -> Struct:
    """Return the layout of a key of 16 or 28 bytes."""
    for layout in (unique_key_layout, unique_key_v6_layout):
        if len(data) == layout.sizeof():
            return layout
    raise LayoutError(f"{len(data)} bytes, a unique key has 16 or 28")
