"""
One message may stand in several queues: its own, and light ones that it names.

Since 4.9.3 a broker with enableMultiDispatch reads the property INNER_MULTI_DISPATCH,
queue names with commas between them, and writes a unit for each, beside that of the
topic. A name that begins with %LMQ% is a light queue (Java: LMQ, light message queue):
its only queue is 0, and enableLmq must be on. What offset the message has in each
stands in INNER_MULTI_QUEUE_OFFSET, which the broker adds, in the same order. Bridges to
MQTT live on this.

Since 5.0.0 other names get no offset (5.0.0 ConsumeQueue#assignQueueOffset). Where one
stands before a light queue, as in ``Other,%LMQ%a``, its offset is an empty text that
the dispatch cannot read (5.3.3 ConsumeQueue#multiDispatchLmqQueue): nothing that is
stored from there on gets a unit, though producers are told that all is well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.integers import INT64_MAX
from spec.layout import LayoutError

LIGHT_PREFIX = "%LMQ%"
"""Before the name of a light queue (Java: LMQ_PREFIX)."""
SEPARATOR = ","
QUEUES = "INNER_MULTI_DISPATCH"
OFFSETS = "INNER_MULTI_QUEUE_OFFSET"

_DISPATCH = "4.9.7 org.apache.rocketmq.store.MultiDispatch"

DISPATCH_UNITS = Clause(
    id="STORE-DISPATCHMANY-001",
    level=Level.MUST,
    text="With enableMultiDispatch a message has a unit in each queue that its property"
    " INNER_MULTI_DISPATCH names, with commas between the names; since 5.0 in light"
    " ones only, which begin with %LMQ%.",
    source="4.9.7 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="4.9.3",
)
DISPATCH_OFFSETS = Clause(
    id="STORE-DISPATCHMANY-002",
    level=Level.MUST,
    text="A broker adds INNER_MULTI_QUEUE_OFFSET, the message's queue offset in each of"
    " those queues, in their order and with commas between them.",
    source=f"{_DISPATCH}#wrapMultiDispatch",
    since="4.9.3",
)
DISPATCH_LIGHT = Clause(
    id="STORE-DISPATCHMANY-003",
    level=Level.MUST,
    text="A queue whose name begins with %LMQ% has the number 0, if enableLmq is on;"
    " any other, up to 4.9, has the number of the message's own queue.",
    source=f"{_DISPATCH}#queueKey",
    since="4.9.3",
)
DISPATCH_OFF = Clause(
    id="STORE-DISPATCHMANY-004",
    level=Level.MUST,
    text="Without enableMultiDispatch, as by default, the property INNER_MULTI_DISPATCH"
    " means nothing.",
    source="4.9.7 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#enableMultiDispatch",
)
DISPATCH_UNEQUAL = Clause(
    id="STORE-DISPATCHMANY-005",
    level=Level.MUST,
    text="A message with more queues than offsets, or fewer, has a unit in none of"
    " them.",
    source="4.9.7 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="4.9.3",
)
DISPATCH_STUCK = Clause(
    id="STORE-DISPATCHMANY-006",
    level=Level.QUIRK,
    text="With enableMultiDispatch and enableLmq, a message that names a queue that is"
    " not light before a light one, as Other,%LMQ%a, has a unit in its own queue only,"
    " and what is stored after it has none, though its producers are told SUCCESS.",
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="5.0",
)
DISPATCH_PLAIN = Clause(
    id="STORE-DISPATCHMANY-007",
    level=Level.MUST,
    text="A name that is no light queue's is a topic's, whose queue with the number of"
    " the message's own counts such messages and those sent to it together.",
    source=f"{_DISPATCH}#wrapMultiDispatch",
    since="4.9.3",
    until="4.9",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """A queue in which a message also stands, and where in it."""

    queue: str
    queue_offset: int

    @property
    def is_light(self) -> bool:
        """Whether the queue is a light one."""
        return self.queue.startswith(LIGHT_PREFIX)


def dispatches_of(properties: Mapping[str, str]) -> list[Dispatch]:
    """Return the other queues in which a message with *properties* stands."""
    queues = _pieces(properties.get(QUEUES, ""))
    offsets = _pieces(properties.get(OFFSETS, ""))
    if len(queues) != len(offsets):
        reason = f"{len(offsets)} offsets for {len(queues)} queues"
        raise LayoutError(reason, field=OFFSETS)
    pairs = zip(queues, offsets, strict=True)
    return [Dispatch(queue=queue, queue_offset=_offset(text)) for queue, text in pairs]


def properties_of(dispatches: list[Dispatch]) -> dict[str, str]:
    """Return the two properties of a message that stands in *dispatches*."""
    for one in dispatches:
        if SEPARATOR in one.queue or not one.queue:
            raise LayoutError(f"{one.queue!r} is no queue's name", field=QUEUES)
    if not dispatches:
        return {}
    return {
        QUEUES: SEPARATOR.join(one.queue for one in dispatches),
        OFFSETS: SEPARATOR.join(str(one.queue_offset) for one in dispatches),
    }


def _pieces(text: str) -> list[str]:
    """Return *text* cut as Java cuts it, which drops empty pieces at the end."""
    pieces = text.rstrip(SEPARATOR).split(SEPARATOR)
    return pieces if text.strip() else []


def _offset(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > INT64_MAX:
        raise LayoutError(f"{text!r} is no offset", field=OFFSETS)
    return int(text)
