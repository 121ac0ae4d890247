"""
One message may be in several queues: its own, and others that it names.

From 4.9.3 on a broker with enableMultiDispatch reads the property INNER_MULTI_DISPATCH,
queue names with commas between them. It writes a unit for each, beside that of the
topic. A name that begins with %LMQ% is a light message queue (LMQ): its only queue id
is 0, and enableLmq must be on. INNER_MULTI_QUEUE_OFFSET, which the broker adds, has the
message's offset in each, in the same order. Bridges to MQTT use this.

From 5.0.0 on other names get no offset (5.0.0 ConsumeQueue#assignQueueOffset). If one
precedes an LMQ, as in ``Other,%LMQ%a``, its offset is an empty text, which dispatch
cannot read (5.3.3 ConsumeQueue#multiDispatchLmqQueue). Later records then get no unit,
though their producers get SUCCESS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.integers import INT64_MAX
from spec.layout import LayoutError
from spec.wire.message.topic_names import LMQ_PREFIX

SEPARATOR = ","
QUEUES = "INNER_MULTI_DISPATCH"
OFFSETS = "INNER_MULTI_QUEUE_OFFSET"

_DISPATCH = "4.9.7 org.apache.rocketmq.store.MultiDispatch"

DISPATCH_UNITS = Clause(
    id="STORE-MULTIDISPATCH-001",
    level=Level.MUST,
    text=(
        "From 4.9.3 on, with enableMultiDispatch a message has a unit in each queue "
        "that its property INNER_MULTI_DISPATCH names, separated by commas. From 5.0 "
        "on, only LMQ names, which begin with %LMQ%, count."
    ),
    source="4.9.7 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="4.9.3",
)
DISPATCH_OFFSETS = Clause(
    id="STORE-MULTIDISPATCH-002",
    level=Level.MUST,
    text=(
        "A broker adds INNER_MULTI_QUEUE_OFFSET, the message's queue offset in each "
        "queue of INNER_MULTI_DISPATCH, in their order and separated by commas."
    ),
    source=f"{_DISPATCH}#wrapMultiDispatch",
    since="4.9.3",
)
DISPATCH_LIGHT = Clause(
    id="STORE-MULTIDISPATCH-003",
    level=Level.MUST,
    text=(
        "A queue of INNER_MULTI_DISPATCH whose name begins with %LMQ% has queue id 0 "
        "if enableLmq is true. Any other, up to 4.9, has the queue id of the "
        "message's own queue."
    ),
    source=f"{_DISPATCH}#queueKey",
    since="4.9.3",
)
DISPATCH_OFF = Clause(
    id="STORE-MULTIDISPATCH-004",
    level=Level.MUST,
    text=(
        "Without enableMultiDispatch, the default, the property INNER_MULTI_DISPATCH "
        "has no effect."
    ),
    source="4.9.7 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#enableMultiDispatch",
)
DISPATCH_UNEQUAL = Clause(
    id="STORE-MULTIDISPATCH-005",
    level=Level.MUST,
    text=(
        "A message whose INNER_MULTI_DISPATCH and INNER_MULTI_QUEUE_OFFSET differ in "
        "length has a unit in none of those queues."
    ),
    source="4.9.7 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="4.9.3",
)
DISPATCH_STUCK = Clause(
    id="STORE-MULTIDISPATCH-006",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, with enableMultiDispatch and enableLmq, a message that names "
        "another queue before an LMQ, as Other,%LMQ%a, has a unit in its own queue "
        "only. Messages stored after it have no unit, though their producers get "
        "SUCCESS (0)."
    ),
    source="5.3.3 org.apache.rocketmq.store.ConsumeQueue#multiDispatchLmqQueue",
    since="5.0",
)
DISPATCH_PLAIN = Clause(
    id="STORE-MULTIDISPATCH-007",
    level=Level.MUST,
    text=(
        "Up to 4.9, a name in INNER_MULTI_DISPATCH that is not an LMQ is a topic. "
        "Its queue with the id of the message's own queue counts multi-dispatched "
        "messages and those sent to it in one sequence."
    ),
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
        return self.queue.startswith(LMQ_PREFIX)


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
            raise LayoutError(f"{one.queue!r} is not the name of a queue", field=QUEUES)
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
        raise LayoutError(f"{text!r} is not an offset", field=OFFSETS)
    return int(text)
