"""
A message's properties are names and values in one string, as a record keeps them.

``name U+0001 value U+0002``, again and again. Producers put their own beside those
that clients and brokers give a meaning to; :class:`Property` names the latter.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from spec.clause import Clause, Level
from spec.layout import LayoutError

NAME_END = "\x01"
"""Stands between a name and its value (Java: NAME_VALUE_SEPARATOR)."""
VALUE_END = "\x02"
"""Stands after a value (Java: PROPERTY_SEPARATOR)."""
KEY_SEPARATOR = " "
"""Stands between the keys in a KEYS property."""
PROPERTIES_SIZE_MAX = 32_767
"""Bytes that a record's properties may have."""

_DECODER = "org.apache.rocketmq.common.message.MessageDecoder"

PROPERTIES_FORM = Clause(
    id="WIRE-PROPERTIES-001",
    level=Level.MUST,
    text=(
        "Properties are written as name, byte 1 (NAME_VALUE_SEPARATOR), value, byte "
        "2 (PROPERTY_SEPARATOR), for each of them."
    ),
    source=f"4.6.0 {_DECODER}#messageProperties2String",
)
PROPERTIES_END = Clause(
    id="WIRE-PROPERTIES-002",
    level=Level.MUST,
    text="A reader accepts properties with and without the separator after the last.",
    source=f"4.6.0 {_DECODER}#string2messageProperties",
    issues=(
        "apache/rocketmq#3331",
        "apache/skywalking-java#54",
    ),
)
PROPERTIES_ORDER = Clause(
    id="WIRE-PROPERTIES-003",
    level=Level.MUST,
    text="The order of properties has no meaning.",
    source=f"4.6.0 {_DECODER}#string2messageProperties",
)
PROPERTIES_BROKEN_PAIR = Clause(
    id="WIRE-PROPERTIES-004",
    level=Level.MUST,
    text=(
        "A pair without a separator or without a value is skipped, and the pairs "
        "beside it are read."
    ),
    source=f"4.6.0 {_DECODER}#string2messageProperties",
)
PROPERTIES_LAST_COUNTS = Clause(
    id="WIRE-PROPERTIES-013",
    level=Level.MUST,
    text=(
        "Of several properties with the same name, the last one with a value counts. "
        "A message in a batch of a Java 5.x producer has UNIQ_KEY twice: its own, then "
        "the batch's."
    ),
    source=f"4.6.0 {_DECODER}#string2messageProperties",
)
PROPERTIES_SECOND_SEPARATOR_DROPS = Clause(
    id="WIRE-PROPERTIES-005",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.0, a pair whose value holds byte 1 before another character is "
        "skipped."
    ),
    source=f"4.6.0 {_DECODER}#string2messageProperties",
    until="4.9.0",
)
PROPERTIES_SECOND_SEPARATOR_STAYS = Clause(
    id="WIRE-PROPERTIES-006",
    level=Level.QUIRK,
    text="From 4.9.1 on, byte 1 in a value is a part of the value.",
    source=f"4.9.7 {_DECODER}#string2messageProperties",
    since="4.9.1",
)
PROPERTIES_EMPTY_NAME_STAYS = Clause(
    id="WIRE-PROPERTIES-010",
    level=Level.QUIRK,
    text="Up to 4.9.0, a pair with an empty name is read as a property of that name.",
    source=f"4.6.0 {_DECODER}#string2messageProperties",
    until="4.9.0",
    untestable="no response shows a property that has no name",
)
PROPERTIES_LAST_SEPARATOR_WRITTEN = Clause(
    id="WIRE-PROPERTIES-007",
    level=Level.SHOULD,
    text="Up to 4.9.0, a broker that rewrites properties ends them with byte 2.",
    source=f"4.6.0 {_DECODER}#messageProperties2String",
    until="4.9.0",
)
PROPERTIES_LAST_SEPARATOR_MISSING = Clause(
    id="WIRE-PROPERTIES-011",
    level=Level.QUIRK,
    text=(
        "From 4.9.1 to 5.1, a broker that rewrites properties ends them without a "
        "byte 2."
    ),
    source=f"4.9.7 {_DECODER}#messageProperties2String",
    since="4.9.1",
    until="5.1",
)
PROPERTIES_LAST_SEPARATOR_AGAIN = Clause(
    id="WIRE-PROPERTIES-012",
    level=Level.SHOULD,
    text=(
        "From 5.2 on, a broker that rewrites properties ends them with byte 2, as "
        "before 4.9.1."
    ),
    source=f"5.3.3 {_DECODER}#messageProperties2String",
    since="5.2",
)
PROPERTIES_UNKNOWN_STAY = Clause(
    id="WIRE-PROPERTIES-008",
    level=Level.MUST,
    text="A property that the broker does not define reaches the consumer unchanged.",
    source=f"4.6.0 {_DECODER}#string2messageProperties",
)
KEYS_ARE_SPACED = Clause(
    id="WIRE-PROPERTIES-009",
    level=Level.MUST,
    text="The KEYS property holds the message's keys, separated by spaces.",
    source="4.6.0 org.apache.rocketmq.common.message.MessageConst#KEY_SEPARATOR",
)


class Property(StrEnum):
    """Names of properties that clients and brokers give a meaning to."""

    KEYS = "KEYS"
    """Keys to query the message by, see KEY_SEPARATOR."""
    TAGS = "TAGS"
    """The message's tag; consumers subscribe to tags of a topic."""
    WAIT = "WAIT"
    """Whether the producer waits for the store (Java: PROPERTY_WAIT_STORE_MSG_OK)."""
    DELAY = "DELAY"
    """Delay level, from 1."""
    RETRY_TOPIC = "RETRY_TOPIC"
    """Topic that a message on a retry topic came from."""
    REAL_TOPIC = "REAL_TOPIC"
    """Topic to which a delayed or half message goes in the end."""
    REAL_QID = "REAL_QID"
    """Queue to which it goes in the end."""
    TRAN_MSG = "TRAN_MSG"
    """``true`` in a half message."""
    PGROUP = "PGROUP"
    """Producer group that checks of a half message go to."""
    MIN_OFFSET = "MIN_OFFSET"
    """Offset of the queue, added by a consumer."""
    MAX_OFFSET = "MAX_OFFSET"
    """Offset of the queue, added by a consumer."""
    BUYER_ID = "BUYER_ID"
    ORIGIN_MESSAGE_ID = "ORIGIN_MESSAGE_ID"
    """Message id of the first delivery of a message that was sent back."""
    TRANSFER_FLAG = "TRANSFER_FLAG"
    CORRECTION_FLAG = "CORRECTION_FLAG"
    MQ2_FLAG = "MQ2_FLAG"
    RECONSUME_TIME = "RECONSUME_TIME"
    MSG_REGION = "MSG_REGION"
    """Region of the broker, added by the broker."""
    TRACE_ON = "TRACE_ON"
    """Whether the broker's region is traced, added by the broker."""
    UNIQ_KEY = "UNIQ_KEY"
    """The id that the producer gave, see spec.wire.message.unique_key."""
    MAX_RECONSUME_TIMES = "MAX_RECONSUME_TIMES"
    CONSUME_START_TIME = "CONSUME_START_TIME"
    """In milliseconds, added by a consumer."""
    TRAN_PREPARED_QUEUE_OFFSET = "TRAN_PREPARED_QUEUE_OFFSET"
    """Queue offset of the first half message, in one that was put back."""
    TRANSACTION_CHECK_TIMES = "TRANSACTION_CHECK_TIMES"
    """Number of checks of a half message."""
    CHECK_IMMUNITY_TIME_IN_SECONDS = "CHECK_IMMUNITY_TIME_IN_SECONDS"
    """Time for which a half message is not checked."""
    TRANSACTION_ID = "__transactionId__"
    INSTANCE_ID = "INSTANCE_ID"
    CORRELATION_ID = "CORRELATION_ID"
    """Request to which a message is the reply; this and the next four since 4.6."""
    REPLY_TO_CLIENT = "REPLY_TO_CLIENT"
    TTL = "TTL"
    ARRIVE_TIME = "ARRIVE_TIME"
    PUSH_REPLY_TIME = "PUSH_REPLY_TIME"
    CLUSTER = "CLUSTER"
    MSG_TYPE = "MSG_TYPE"
    INNER_NUM = "INNER_NUM"
    """Messages in a batch that is stored as one record; since 5.0."""
    CRC32 = "__CRC32#"
    """Checksum over the whole record; since 5.1."""
    DLQ_ORIGIN_TOPIC = "DLQ_ORIGIN_TOPIC"
    """Since 5.0, as the next."""
    DLQ_ORIGIN_MESSAGE_ID = "DLQ_ORIGIN_MESSAGE_ID"


def decode_properties(text: str, *, splits_once: bool = False) -> dict[str, str]:
    """Return the properties in *text*, read as 4.6.0 reads them.

    An invalid pair is skipped. Of equal names the last counts. Java's split drops
    empty pieces at the end, so a value may be followed by separators, and cannot be
    empty. With *splits_once* they are read as since 4.9.1: a name ends at the first
    separator and is not empty.
    """
    found: dict[str, str] = {}
    for pair in text.split(VALUE_END):
        if splits_once:
            name, _, value = pair.partition(NAME_END)
            pieces = [name, value] if name and value else []
        else:
            pieces = pair.rstrip(NAME_END).split(NAME_END)
        if len(pieces) == 2:
            found[pieces[0]] = pieces[1]
    return found


def encode_properties(
    properties: Mapping[str, str], *, final_separator: bool = True
) -> str:
    """Return *properties* as one string.

    4.9.1 to 5.1 leave the last separator out. A name or value with a separator in
    it cannot be written and is a LayoutError.
    """
    for name, value in properties.items():
        if {NAME_END, VALUE_END} & set(name + value):
            raise LayoutError(f"a separator in {name!r} or its value", field=name)
    pairs = (f"{name}{NAME_END}{value}" for name, value in properties.items())
    text = VALUE_END.join(pairs)
    return text + VALUE_END if text and final_separator else text


def keys_of(properties: Mapping[str, str]) -> list[str]:
    """Return the keys under which a message with *properties* can be found."""
    return [k for k in properties.get(Property.KEYS, "").split(KEY_SEPARATOR) if k]
