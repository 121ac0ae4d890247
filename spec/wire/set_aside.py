"""
Some messages are stored under another topic first, and under their own later.

Half messages, delayed messages and those of the timer are set aside so: the broker
changes topic and queue and keeps the real ones in the properties REAL_TOPIC and
REAL_QID. For half messages it also keeps notes of those that are decided: a note's body
is the queue offset of the half message, since 5.1 of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.integers import INT32_MAX, INT64_MAX
from spec.layout import LayoutError
from spec.wire.properties import Property

OFFSET_SEPARATOR = ","
"""Stands after each offset in a note, since 5.1."""

_BRIDGE = "org.apache.rocketmq.broker.transaction.queue.TransactionalMessageBridge"

REAL_PLACE = Clause(
    id="STORE-ASIDE-001",
    level=Level.MUST,
    text="A half message, a delayed one and one of the timer have the topic and queue"
    " that they were sent to in the properties REAL_TOPIC and REAL_QID.",
    source=f"4.6.0 {_BRIDGE}#parseHalfMessageInner",
)
ASIDE_KEEPS = Clause(
    id="STORE-ASIDE-002",
    level=Level.MUST,
    text="A message that was set aside keeps its body, its flag and its other"
    " properties.",
    source=f"4.6.0 {_BRIDGE}#parseHalfMessageInner",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPlace:
    """Where a message that is set aside belongs."""

    topic: str
    queue_id: int


def set_aside(properties: Mapping[str, str], place: RealPlace) -> dict[str, str]:
    """Return the *properties* of a message of *place* that is set aside."""
    return {
        **properties,
        Property.REAL_TOPIC: place.topic,
        Property.REAL_QID: str(place.queue_id),
    }


def real_place(properties: Mapping[str, str]) -> RealPlace:
    """Return where the message with *properties* belongs."""
    topic = properties.get(Property.REAL_TOPIC)
    if not topic:
        raise LayoutError("no real topic", field=Property.REAL_TOPIC)
    number = properties.get(Property.REAL_QID, "")
    queue_id = _number(number, Property.REAL_QID, most=INT32_MAX)
    return RealPlace(topic=topic, queue_id=queue_id)


def encode_note(offsets: Iterable[int], *, is_list: bool = True) -> bytes:
    """Return the body of the note that half messages at *offsets* are decided.

    Up to 5.0 a note has one offset and *is_list* is false: nothing follows it.
    """
    found = list(offsets)
    if not is_list and len(found) != 1:
        raise LayoutError(f"{len(found)} offsets in a note of one")
    if any(not 0 <= offset <= INT64_MAX for offset in found):
        raise LayoutError("a negative offset, or one too large")
    end = OFFSET_SEPARATOR if is_list else ""
    return "".join(f"{offset}{end}" for offset in found).encode()


def decode_note(body: bytes) -> list[int]:
    """Return the queue offsets of the half messages that a note says are decided."""
    text = body.decode("latin-1")
    pieces = text.removesuffix(OFFSET_SEPARATOR).split(OFFSET_SEPARATOR)
    return [_number(piece, "body", most=INT64_MAX) for piece in pieces]


def _number(text: str, field: str, *, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > most:
        raise LayoutError(f"{text!r} is no number here", field=field)
    return int(text)
