"""
A popped message comes with a receipt, by which it is acknowledged or hidden for longer.

From 5.0 on a consumer may pop: the broker returns messages of any queue and hides them
for a time. The receipt is eight words with spaces between them. The broker's response
has the first four for all messages and lists the rest by queue, in three header fields.
The client puts the receipt together and keeps it in the property POP_CK.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from spec.clause import Clause, Level
from spec.integers import INT64_MAX
from spec.layout import LayoutError

WORD_END = " "
ENTRY_END = ";"
"""Stands between the queues of a list."""
OFFSET_END = ","
"""Stands between the offsets of a queue."""
ORDERED_REVIVE_QUEUE = 999
"""The revive queue of a receipt for messages that are consumed in order."""
_WORDS = 7

_INFO = "5.3.3 org.apache.rocketmq.remoting.protocol.header.ExtraInfoUtil"

RECEIPT_FORM = Clause(
    id="WIRE-POP-001",
    level=Level.MUST,
    text=(
        "A receipt is first popped offset, pop time, invisible time, revive queue "
        "id, topic kind, broker name, queue id and message offset, separated by "
        "spaces."
    ),
    source=f"{_INFO}#buildExtraInfo",
    since="5.0",
)
RECEIPT_KIND = Clause(
    id="WIRE-POP-002",
    level=Level.MUST,
    text=(
        "A receipt's topic kind is 0 for the topic itself, 1 for the group's retry "
        "topic and 2 for the V2 retry topic."
    ),
    source=f"{_INFO}#getRealTopic",
    since="5.0",
)
START_OFFSETS = Clause(
    id="WIRE-POP-003",
    level=Level.MUST,
    text=(
        "The field startOffsetInfo of a response to POP_MESSAGE has, for each queue, "
        "topic kind, queue id and first offset, with semicolons between queues."
    ),
    source=f"{_INFO}#buildStartOffsetInfo",
    since="5.0",
)
MESSAGE_OFFSETS = Clause(
    id="WIRE-POP-004",
    level=Level.MUST,
    text=(
        "The field msgOffsetInfo of a response to POP_MESSAGE has, for each queue, "
        "topic kind, queue id and the offsets of its messages, separated by commas."
    ),
    source=f"{_INFO}#buildMsgOffsetInfo",
    since="5.0",
)


class TopicKind(StrEnum):
    """Topic of a group from which a popped message comes."""

    NORMAL = "0"
    RETRY = "1"
    """%RETRY%GROUP_TOPIC."""
    RETRY_V2 = "2"
    """%RETRY%GROUP+TOPIC; since 5.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopReceipt:
    """Receipt of one popped message (Java: extraInfo)."""

    first_offset: int
    """Queue offset of the first message of the pop (Java: ckQueueOffset)."""
    popped_at_ms: int
    invisible_ms: int
    """Time for which other consumers do not receive the message."""
    revive_queue_id: int
    topic_kind: str = TopicKind.NORMAL
    broker_name: str
    queue_id: int
    queue_offset: int | None = None
    """Queue offset of the message; None in a receipt of the whole pop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoppedQueue:
    """An entry of startOffsetInfo, with one offset, or of msgOffsetInfo."""

    topic_kind: str
    queue: str
    """A queue id; for messages in order ``qo``, the queue id, %, and an offset."""
    offsets: tuple[int, ...]


def encode_receipt(receipt: PopReceipt) -> str:
    """Return the text of *receipt*."""
    if WORD_END in receipt.broker_name or not receipt.broker_name:
        raise LayoutError(f"{receipt.broker_name!r} in a receipt", field="broker_name")
    words: list[object] = [receipt.first_offset, receipt.popped_at_ms]
    words += [receipt.invisible_ms, receipt.revive_queue_id, receipt.topic_kind]
    words += [receipt.broker_name, receipt.queue_id]
    if receipt.queue_offset is not None:
        words.append(receipt.queue_offset)
    return WORD_END.join(map(str, words))


def decode_receipt(text: str) -> PopReceipt:
    """Return the receipt that *text* is."""
    words = text.split(WORD_END)
    if not _WORDS <= len(words) <= _WORDS + 1:
        reason = f"{len(words)} words in {text!r}, a receipt has 7 or 8"
        raise LayoutError(reason, field="receipt")
    if not words[5]:
        raise LayoutError(f"no broker's name in {text!r}", field="broker_name")
    return PopReceipt(
        first_offset=_number(words[0], "first_offset", text),
        popped_at_ms=_number(words[1], "popped_at_ms", text),
        invisible_ms=_number(words[2], "invisible_ms", text),
        revive_queue_id=_number(words[3], "revive_queue_id", text),
        topic_kind=_kind(words[4], text),
        broker_name=words[5],
        queue_id=_number(words[6], "queue_id", text),
        queue_offset=_number(words[7], "queue_offset", text) if words[7:] else None,
    )


def encode_popped_queues(queues: Iterable[PoppedQueue]) -> str:
    """Return *queues* as the header fields of a response list them."""
    return ENTRY_END.join(
        WORD_END.join(
            (one.topic_kind, one.queue, OFFSET_END.join(map(str, one.offsets)))
        )
        for one in queues
    )


def decode_popped_queues(text: str) -> list[PoppedQueue]:
    """Return the queues that a header field of a response lists.

    Semicolons stand between queues, spaces between the three words of a queue, and
    commas between its offsets.
    """
    found: dict[tuple[str, str], PoppedQueue] = {}
    for entry in text.split(ENTRY_END) if text else []:
        words = entry.split(WORD_END)
        if len(words) != 3:
            reason = f"{len(words)} words in {entry!r} of {text!r}, a queue has 3"
            raise LayoutError(reason)
        kind, queue, offsets = words
        if (kind, queue) in found:
            raise LayoutError(f"queue {queue} twice in {text!r}")
        found[kind, queue] = PoppedQueue(
            topic_kind=_kind(kind, text),
            queue=queue,
            offsets=tuple(
                _number(word, queue, text) for word in offsets.split(OFFSET_END)
            ),
        )
    return list(found.values())


def popped_queues_of(fields: Mapping[str, str], name: str) -> list[PoppedQueue]:
    """Return the queues that the header field *name* lists; an error has its name."""
    try:
        return decode_popped_queues(fields[name])
    except LayoutError as error:
        raise LayoutError(error.reason, field=name) from None


def _kind(word: str, text: str) -> str:
    if word not in list(TopicKind):
        reason = f"{word!r} in {text!r} is not a kind of topic"
        raise LayoutError(reason, field="topic_kind")
    return word


def _number(word: str, field: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", word, re.ASCII) or int(word) > INT64_MAX:
        raise LayoutError(f"{word!r} in {text!r} is not a number", field=field)
    return int(word)
