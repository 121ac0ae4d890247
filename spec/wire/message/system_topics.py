"""
Messages that are stored in a system topic first, and in their own topic later.

Half messages, delayed messages and timer messages are stored so. The broker changes
topic and queue and keeps the real ones in the properties REAL_TOPIC and REAL_QID. It
also keeps op messages of decided half messages: the body is the queue offset of the
half message, from 5.1 on of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.integers import INT32_MAX, INT64_MAX
from spec.layout import LayoutError
from spec.wire.message.properties import Property

OFFSET_SEPARATOR = ","
"""Stands after each offset in the body of an op message, from 5.1 on."""

_BRIDGE = "org.apache.rocketmq.broker.transaction.queue.TransactionalMessageBridge"

REAL_PLACE = Clause(
    id="STORE-SYSTOPIC-001",
    level=Level.MUST,
    text=(
        "A half message, a delayed message and a timer message have their original "
        "topic and queue in the properties REAL_TOPIC and REAL_QID."
    ),
    source=f"4.6.0 {_BRIDGE}#parseHalfMessageInner",
)
SYSTEM_TOPIC_KEEPS = Clause(
    id="STORE-SYSTOPIC-002",
    level=Level.MUST,
    text=(
        "A message stored in a system topic keeps its body, its flag and its other "
        "properties."
    ),
    source=f"4.6.0 {_BRIDGE}#parseHalfMessageInner",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPlace:
    """Original topic and queue of a message in a system topic."""

    topic: str
    queue_id: int


def with_real_place(properties: Mapping[str, str], place: RealPlace) -> dict[str, str]:
    """Return the *properties* of a message of *place* in a system topic."""
    return {
        **properties,
        Property.REAL_TOPIC: place.topic,
        Property.REAL_QID: str(place.queue_id),
    }


def real_place(properties: Mapping[str, str]) -> RealPlace:
    """Return the original topic and queue of the message with *properties*."""
    topic = properties.get(Property.REAL_TOPIC)
    if not topic:
        raise LayoutError("no real topic", field=Property.REAL_TOPIC)
    number = properties.get(Property.REAL_QID, "")
    queue_id = _number(number, Property.REAL_QID, most=INT32_MAX)
    return RealPlace(topic=topic, queue_id=queue_id)


def encode_op_body(offsets: Iterable[int], *, is_list: bool = True) -> bytes:
    """Return the body of an op message for the half messages at *offsets*.

    Up to 5.0 an op message has one offset and no separator: *is_list* is false.
    """
    found = list(offsets)
    if not is_list and len(found) != 1:
        raise LayoutError(f"{len(found)} offsets in a body of one")
    if any(not 0 <= offset <= INT64_MAX for offset in found):
        raise LayoutError("a negative offset, or one too large")
    end = OFFSET_SEPARATOR if is_list else ""
    return "".join(f"{offset}{end}" for offset in found).encode()


def decode_op_body(body: bytes) -> list[int]:
    """Return the queue offsets of half messages in the body of an op message."""
    text = body.decode("latin-1")
    pieces = text.removesuffix(OFFSET_SEPARATOR).split(OFFSET_SEPARATOR)
    return [_number(piece, "body", most=INT64_MAX) for piece in pieces]


def _number(text: str, field: str, *, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > most:
        raise LayoutError(f"{text!r} is not a number", field=field)
    return int(text)
