"""
POP_MESSAGE: the broker selects the queue, and hides what it returns for a time.

A pull names a queue and an offset, and the consumer commits offsets. A pop names a
topic and a group. The broker returns the next messages of any queue, hides them from
the group for the invisible time, and records a checkpoint. A message that is not
acknowledged in that time becomes visible again in the retry topic of topic and group.
"""

from __future__ import annotations

from enum import IntEnum

from spec.clause import Clause, Level

_POP = "5.3.3 org.apache.rocketmq.broker.processor.PopMessageProcessor"
_REQUEST = f"{_POP}#processRequest"
_QUEUE = f"{_POP}#popMsgFromQueue"
_HOLD = "5.3.3 org.apache.rocketmq.broker.longpolling.PopLongPollingService"
_REVIVE = "5.3.3 org.apache.rocketmq.broker.processor.PopReviveService"
_PEEK = "5.3.3 org.apache.rocketmq.broker.processor.PeekMessageProcessor"

ANY_QUEUE = -1
"""Queue id of a pop from all queues of its topic."""
POP_COUNT_MAX = 32
"""Largest maxMsgNums that a broker accepts."""
LATE_MS = 500
"""Milliseconds after its poll time from which a request counts as too late."""


class InitMode(IntEnum):
    """First offset of a group that has none (Java: ConsumeInitMode)."""

    MIN = 0
    MAX = 1


ALL_QUEUES = Clause(
    id="POP-GET-001",
    level=Level.MUST,
    text="A pop with queueId -1 returns messages of every queue of its topic.",
    source=f"{_POP}#popMsgFromTopic",
    since="5.0",
)
ONE_QUEUE = Clause(
    id="POP-GET-002",
    level=Level.MUST,
    text=(
        "A pop with a queue id of the topic returns messages of that queue only, and "
        "of the group's retry topic."
    ),
    source=_REQUEST,
    since="5.0",
)
COUNT_AND_REST = Clause(
    id="POP-GET-003",
    level=Level.MUST,
    text=(
        "A pop of one queue returns at most maxMsgNums messages, the oldest first. "
        "restNum is the number of messages behind them."
    ),
    source=_QUEUE,
    since="5.0",
)
OFFSETS_OF_POPPED = Clause(
    id="POP-GET-004",
    level=Level.MUST,
    text=(
        "startOffsetInfo has the queue offset of the first popped message of each "
        "queue, and msgOffsetInfo that of every popped message. A queue's words are "
        "separated by spaces, its offsets by commas, and queues by semicolons."
    ),
    source=_QUEUE,
    since="5.0",
)
TIMES_OF_POP = Clause(
    id="POP-GET-005",
    level=Level.MUST,
    text=(
        "The response to a pop has the broker's time as popTime, the invisibleTime of "
        "the request, and the id of a revive queue."
    ),
    source=_REQUEST,
    since="5.0",
)
AS_STORED = Clause(
    id="POP-GET-006",
    level=Level.MUST,
    text="A message popped for the first time has the bytes that the commit log has.",
    source=_QUEUE,
    since="5.0",
)
ONLY_MATCHING = Clause(
    id="POP-GET-007",
    level=Level.MUST,
    text="A pop with a TAG expression returns only messages that have the tag.",
    source=_REQUEST,
    since="5.0",
)
FIRST_FROM_MIN = Clause(
    id="POP-GET-008",
    level=Level.MUST,
    text="The first pop of a group with initMode 0 (MIN) begins at the min offset.",
    source=f"{_POP}#getInitOffset",
    since="5.0",
)
FIRST_FROM_MEMORY = Clause(
    id="POP-GET-009",
    level=Level.QUIRK,
    text=(
        "From 5.1.4 on, the first pop of a group with initMode 1 (MAX) begins at "
        "offset 0 all the same while the whole queue is in memory. Earlier releases "
        "begin at the last message."
    ),
    source=f"{_POP}#getInitOffset",
    since="5.1.4",
)
ONLY_TRUE = Clause(
    id="POP-GET-010",
    level=Level.MUST,
    text=(
        "A pop with a SQL92 expression returns only messages for whose properties the "
        "expression is true, if enablePropertyFilter is set."
    ),
    source=_REQUEST,
    since="5.0",
)
MORE_THAN_32 = Clause(
    id="POP-REFUSE-001",
    level=Level.MUST,
    text="From 5.3.2 on, a pop with maxMsgNums above 32 is refused with"
    " INVALID_PARAMETER (29).",
    source=_REQUEST,
    since="5.3.2",
)
QUEUE_OUT_OF_RANGE = Clause(
    id="POP-REFUSE-002",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, a pop with a queueId of readQueueNums or more is refused "
        "with INVALID_PARAMETER (29)."
    ),
    source=_REQUEST,
    since="5.3.2",
)
UNKNOWN_TOPIC = Clause(
    id="POP-REFUSE-003",
    level=Level.MUST,
    text="A pop of an unknown topic is refused with TOPIC_NOT_EXIST (17).",
    source=_REQUEST,
    since="5.0",
)
UNREADABLE_TOPIC = Clause(
    id="POP-REFUSE-004",
    level=Level.MUST,
    text=("A pop of a topic without PERM_READ (4) is refused with NO_PERMISSION (16)."),
    source=_REQUEST,
    since="5.0",
)
DISABLED_GROUP = Clause(
    id="POP-REFUSE-005",
    level=Level.MUST,
    text=(
        "A pop of a group with consumeEnable false is refused with NO_PERMISSION (16)."
    ),
    source=_REQUEST,
    since="5.0",
)
BAD_EXPRESSION = Clause(
    id="POP-REFUSE-006",
    level=Level.MUST,
    text=(
        "A pop with an expression that is not valid SQL92 is refused with "
        "SUBSCRIPTION_PARSE_FAILED (23)."
    ),
    source=_REQUEST,
    since="5.0",
)
LATE_REQUEST = Clause(
    id="POP-REFUSE-007",
    level=Level.MUST,
    text=(
        "A pop whose bornTime and pollTime ended more than 500 ms ago is refused with "
        "POLLING_TIMEOUT (210), even if there are messages."
    ),
    source="5.3.3 org.apache.rocketmq.remoting.protocol.header.PopMessageRequestHeader"
    "#isTimeoutTooMuch",
    since="5.0",
)
HIDDEN_FROM_GROUP = Clause(
    id="POP-HIDE-001",
    level=Level.MUST,
    text="A popped message is not returned to its group again in its invisible time.",
    source=_QUEUE,
    since="5.0",
)
SEEN_BY_OTHERS = Clause(
    id="POP-HIDE-002",
    level=Level.MUST,
    text="A message that one group has popped is returned to another group.",
    source=_QUEUE,
    since="5.0",
)
HIDDEN_AFTER_RESTART = Clause(
    id="POP-HIDE-003",
    level=Level.MUST,
    text=(
        "A popped message stays hidden from its group until its invisible time ends, "
        "also after an orderly stop and a start of the broker."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PopBufferMergeService#run",
    since="5.0",
)
COMES_AGAIN = Clause(
    id="POP-REVIVE-001",
    level=Level.MUST,
    text=(
        "A popped message that is not acknowledged is returned to its group again "
        "after its invisible time, and not before."
    ),
    source=f"{_REVIVE}#reviveRetry",
    since="5.0",
)
REVIVED_TOPIC = Clause(
    id="POP-REVIVE-002",
    level=Level.MUST,
    text=(
        "From 5.1 on, a message popped again has its own topic, and reconsume times "
        "one more than before. 5.0 returns it with the name of the retry topic."
    ),
    source=_QUEUE,
    since="5.1",
)
REVIVED_PROPERTIES = Clause(
    id="POP-REVIVE-003",
    level=Level.MUST,
    text=(
        "From 5.1 on, a message popped again has its first pop time in the property "
        "1ST_POP_TIME, and its receipt in the property POP_CK, which 5.0 omits."
    ),
    source=f"{_REVIVE}#reviveRetry",
    since="5.1",
)
RETRY_TOPIC = Clause(
    id="POP-REVIVE-004",
    level=Level.MUST,
    text=(
        "A message that is to be popped again is put into queue 0 of the topic "
        "%RETRY%GROUP_TOPIC, which the broker creates with one queue and permission 6."
    ),
    source="5.3.3 org.apache.rocketmq.common.KeyBuilder#buildPopRetryTopicV1",
    since="5.0",
)
AGAIN_AFTER_KILL = Clause(
    id="POP-REVIVE-005",
    level=Level.MUST,
    text=(
        "A message that is popped and not acknowledged when the broker's process is "
        "killed is returned to its group again after the next start."
    ),
    source=f"{_REVIVE}#mergeAndRevive",
    since="5.0",
)
ACKNOWLEDGED_BEFORE_STOP = Clause(
    id="POP-REVIVE-006",
    level=Level.MUST,
    text=(
        "After an orderly stop and a start of the broker, a message that was "
        "acknowledged before is not returned to its group, and the others of its pop "
        "are."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PopBufferMergeService#run",
    since="5.0",
)
RETRY_TOPIC_V2 = Clause(
    id="POP-REVIVE-007",
    level=Level.MUST,
    text=(
        "With enableRetryTopicV2, a message that is to be popped again is put into the "
        "topic %RETRY%GROUP+TOPIC, and its receipt has topic kind 2."
    ),
    source="5.3.3 org.apache.rocketmq.common.KeyBuilder#buildPopRetryTopicV2",
    since="5.2",
)
OLD_RETRY_TOPIC = Clause(
    id="POP-REVIVE-008",
    level=Level.MUST,
    text=(
        "A broker that is started with enableRetryTopicV2 also returns messages of the "
        "retry topic %RETRY%GROUP_TOPIC (retrieveMessageFromPopRetryTopicV1)."
    ),
    source=f"{_REQUEST}",
    since="5.2",
)
HELD_POP = Clause(
    id="POP-HOLD-001",
    level=Level.MUST,
    text=(
        "A pop with a pollTime that finds no message is held, and returns the next "
        "message when it arrives."
    ),
    source=f"{_HOLD}#polling",
    since="5.0",
)
HELD_UNTIL = Clause(
    id="POP-HOLD-002",
    level=Level.MUST,
    text=(
        "A held pop without an arrival is answered with POLLING_TIMEOUT (210) when "
        "its pollTime ends, and at most 50 ms before."
    ),
    source=f"{_HOLD}#polling",
    since="5.0",
)
NOT_HELD = Clause(
    id="POP-HOLD-003",
    level=Level.MUST,
    text=(
        "A pop with pollTime 0 that finds no message is answered immediately with "
        "POLLING_TIMEOUT (210)."
    ),
    source=f"{_HOLD}#polling",
    since="5.0",
)
HELD_COUNT = Clause(
    id="POP-HOLD-004",
    level=Level.MUST,
    text=(
        "POLLING_INFO (200055) returns as pollingNum the number of held pops of a "
        "topic, group and queue id."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PollingInfoProcessor"
    "#processRequest",
    since="5.0",
)
ONE_RESPONSE_OF_POP = Clause(
    id="POP-HOLD-005",
    level=Level.MUST,
    text=(
        "A request of pop consumption, held or not, gets one response and no second "
        "one."
    ),
    source="5.3.3 org.apache.rocketmq.broker.longpolling.PopRequest#complete",
    since="5.0",
)
POP_IN_TIME = Clause(
    id="POP-HOLD-006",
    level=Level.SHOULD,
    text=(
        "A request of pop consumption that is not held gets its response within 3 "
        "seconds, for which a Java consumer waits (ASYNC_TIMEOUT)."
    ),
    source="5.3.3 org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl"
    "#ackAsync",
    since="5.0",
)
PEEKED = Clause(
    id="POP-PEEK-001",
    level=Level.MUST,
    text=(
        "PEEK_MESSAGE (200052) returns messages of a queue without hiding them: the "
        "group can peek and pop them afterwards."
    ),
    source=f"{_PEEK}#peekMsgFromQueue",
    since="5.0",
)
ROLLED_BACK = Clause(
    id="POP-ROLLBACK-001",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, POP_ROLLBACK (200056) is answered with SUCCESS (0) by a broker "
        "with popConsumerKVServiceEnable false, its default: a popped message stays "
        "hidden from its group, and can be acknowledged."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#transferPopToFsStore",
    since="5.3.2",
)
PEEKED_NEXT = Clause(
    id="POP-PEEK-002",
    level=Level.MUST,
    text=(
        "PEEK_MESSAGE (200052) returns at most maxMsgNums messages of the queue, from "
        "the first one that the group has not popped."
    ),
    source=f"{_PEEK}#peekMsgFromQueue",
    since="5.0",
)
