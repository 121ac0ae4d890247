"""
Acknowledgement of popped messages, and changes of their invisible time.

A receipt (:mod:`spec.wire.pop.pop_receipt`) identifies the pop. The request repeats
topic, group, queue id and queue offset of one message of it.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ACK = "5.3.3 org.apache.rocketmq.broker.processor.AckMessageProcessor"
_CHANGE = "5.3.3 org.apache.rocketmq.broker.processor.ChangeInvisibleTimeProcessor"
_ORDER = "5.3.3 org.apache.rocketmq.broker.offset.ConsumerOrderInfoManager"

ACKNOWLEDGED = Clause(
    id="POP-ACK-001",
    level=Level.MUST,
    text=(
        "A message acknowledged in its invisible time is not returned to its group "
        "again, while the others of its pop are."
    ),
    source=f"{_ACK}#appendAck",
    since="5.0",
)
ACK_ADVANCES = Clause(
    id="POP-ACK-002",
    level=Level.MUST,
    text=(
        "After all messages of a pop are acknowledged, the group's committed offset "
        "of their queue is the offset behind them."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PopBufferMergeService"
    "#commitOffset",
    since="5.0",
)
ACK_UNKNOWN_TOPIC = Clause(
    id="POP-ACK-003",
    level=Level.MUST,
    text="ACK_MESSAGE for an unknown topic is refused with TOPIC_NOT_EXIST (17).",
    source=f"{_ACK}#processRequest",
    since="5.0",
)
ACK_QUEUE = Clause(
    id="POP-ACK-004",
    level=Level.MUST,
    text=(
        "ACK_MESSAGE with a queueId below 0, or of readQueueNums or more, is refused "
        "with MESSAGE_ILLEGAL (13)."
    ),
    source=f"{_ACK}#processRequest",
    since="5.0",
)
ACK_OFFSET = Clause(
    id="POP-ACK-005",
    level=Level.MUST,
    text=(
        "ACK_MESSAGE with an offset above the queue's max offset is refused with "
        "NO_MESSAGE (208)."
    ),
    source=f"{_ACK}#processRequest",
    since="5.0",
)
ACK_TWICE = Clause(
    id="POP-ACK-006",
    level=Level.QUIRK,
    text=(
        "ACK_MESSAGE for a message that is already acknowledged, or that was never "
        "popped, is answered with SUCCESS (0)."
    ),
    source=f"{_ACK}#appendAck",
    since="5.0",
)
BATCH_ACK = Clause(
    id="POP-ACK-007",
    level=Level.MUST,
    text=(
        "BATCH_ACK_MESSAGE (200151) acknowledges the message at each set bit of b, "
        "counted from the pop's start offset, and no other. The text b is a bit set "
        "(Java: BitSet#toByteArray) in Base64."
    ),
    source=f"{_ACK}#appendAck",
    since="5.1.3",
)
EMPTY_BATCH_ACK = Clause(
    id="POP-ACK-008",
    level=Level.MUST,
    text=(
        "BATCH_ACK_MESSAGE without a body, or without acks in it, is refused with "
        "NO_MESSAGE (208)."
    ),
    source=f"{_ACK}#processRequest",
    since="5.1.3",
)
SHORTER_TIME = Clause(
    id="POP-INVISIBLE-001",
    level=Level.MUST,
    text=(
        "After CHANGE_MESSAGE_INVISIBLETIME (200053) to a shorter time, a message is "
        "returned to its group when the new time ends, not the old one."
    ),
    source=f"{_CHANGE}#appendCheckPointThenAckOrigin",
    since="5.0",
)
LONGER_TIME = Clause(
    id="POP-INVISIBLE-002",
    level=Level.MUST,
    text=(
        "After CHANGE_MESSAGE_INVISIBLETIME (200053) to a longer time, a message is "
        "not returned to its group when the old time ends."
    ),
    source=f"{_CHANGE}#appendCheckPointThenAckOrigin",
    since="5.0",
)
NEW_RECEIPT = Clause(
    id="POP-INVISIBLE-003",
    level=Level.MUST,
    text=(
        "The response to CHANGE_MESSAGE_INVISIBLETIME (200053) has the time of the "
        "change as popTime, the new invisibleTime, and the receipt's revive queue."
    ),
    source=f"{_CHANGE}#processRequestAsync",
    since="5.0",
)
CHANGED_RECEIPT = Clause(
    id="POP-INVISIBLE-006",
    level=Level.MUST,
    text=(
        "After CHANGE_MESSAGE_INVISIBLETIME (200053), ACK_MESSAGE with popTime, "
        "invisibleTime and reviveQid of its response as the receipt acknowledges the "
        "message."
    ),
    source=f"{_CHANGE}#appendCheckPointThenAckOrigin",
    since="5.0",
)
REPLACED_RECEIPT = Clause(
    id="POP-INVISIBLE-007",
    level=Level.QUIRK,
    text=(
        "After CHANGE_MESSAGE_INVISIBLETIME (200053), ACK_MESSAGE with the receipt of "
        "the pop is answered with SUCCESS (0), but the message is returned to its "
        "group when the new time ends."
    ),
    source=f"{_CHANGE}#ackOrigin",
    since="5.0",
)
CHANGE_RANGE = Clause(
    id="POP-INVISIBLE-004",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, CHANGE_MESSAGE_INVISIBLETIME with an offset of the queue's "
        "max offset or above is refused with NO_MESSAGE (208)."
    ),
    source=f"{_CHANGE}#processRequestAsync",
    since="5.3.2",
)
CHANGE_QUEUE = Clause(
    id="POP-INVISIBLE-005",
    level=Level.MUST,
    text=(
        "CHANGE_MESSAGE_INVISIBLETIME with a queueId below 0, or of readQueueNums or "
        "more, is refused with MESSAGE_ILLEGAL (13), and for an unknown topic with "
        "TOPIC_NOT_EXIST (17)."
    ),
    source=f"{_CHANGE}#processRequestAsync",
    since="5.0",
)
ORDER_REVIVE_QUEUE = Clause(
    id="POP-ORDER-001",
    level=Level.MUST,
    text="The response to an orderly pop has reviveQid 999.",
    source="5.3.3 org.apache.rocketmq.common.KeyBuilder#POP_ORDER_REVIVE_QUEUE",
    since="5.0",
)
ORDER_BLOCKS = Clause(
    id="POP-ORDER-002",
    level=Level.MUST,
    text=(
        "After an orderly pop, the queue returns nothing to another attempt of the "
        "group until each of its messages is acknowledged or visible again."
    ),
    source=f"{_ORDER}#checkBlock",
    since="5.0",
)
ORDER_ADVANCES = Clause(
    id="POP-ORDER-003",
    level=Level.MUST,
    text=(
        "After all messages of an orderly pop are acknowledged, the next one returns "
        "the messages behind them, and the committed offset is behind them."
    ),
    source=f"{_ORDER}#commitAndNext",
    since="5.0",
)
ORDER_SAME_ATTEMPT = Clause(
    id="POP-ORDER-004",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, a second orderly pop with the attemptId of the first returns "
        "the same messages immediately."
    ),
    source=f"{_ORDER}#checkBlock",
    since="5.1.1",
)
ORDER_AGAIN = Clause(
    id="POP-ORDER-005",
    level=Level.MUST,
    text=(
        "Messages of an orderly pop that are not acknowledged in their invisible time "
        "are returned again, in the same order. From 5.1 on, orderCountInfo counts "
        "the earlier pop for each message and for the queue."
    ),
    source=f"{_ORDER}#update",
    since="5.1",
)
