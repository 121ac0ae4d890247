"""
Sending to a group's retry topic, as a consumer does that keeps its messages in order.

The broker counts: a message that was delivered often enough becomes a dead letter.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_RETRY = (
    "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor#handleRetryAndDLQ"
)
_LATER_RETRY = (
    "5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor#handleRetryAndDLQ"
)

MAX_RECONSUME_TIMES_SINCE = 121
"""First request version (V3_4_9) with maxReconsumeTimes."""

UNKNOWN_GROUP = Clause(
    id="SEND-RETRY-002",
    level=Level.MUST,
    text="With autoCreateSubscriptionGroup=false a message to the retry topic of an"
    " unknown group is refused with SUBSCRIPTION_GROUP_NOT_EXIST (26).",
    source=_RETRY,
    issues=("apache/rocketmq#9235",),
)
DEAD_LETTER = Clause(
    id="SEND-RETRY-003",
    level=Level.MUST,
    text=(
        "Up to 4.9, a message to a retry topic with reconsumeTimes of "
        "maxReconsumeTimes or more is stored in queue 0 of %DLQ% and the group's "
        "name. Otherwise it is stored in the retry topic."
    ),
    source=_RETRY,
    until="4.9",
)
DEAD_LETTER_LATER = Clause(
    id="SEND-RETRY-004",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message to a retry topic with reconsumeTimes above "
        "maxReconsumeTimes is stored in queue 0 of %DLQ% and the group's name. "
        "Otherwise it is stored in the retry topic."
    ),
    source=_LATER_RETRY,
    since="5.0",
)
RESPONSE_KEEPS_QUEUE = Clause(
    id="SEND-RETRY-005",
    level=Level.QUIRK,
    text=(
        "The response about a message that became a dead letter has the request's "
        "queue id, and the dead letter's msgId and queue offset."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#handlePutMessageResult",
)
OLD_CLIENTS = Clause(
    id="SEND-RETRY-006",
    level=Level.MUST,
    text=(
        "For a request whose version is below 121 (V3_4_9) the group's retryMaxTimes "
        "replaces maxReconsumeTimes."
    ),
    source=_RETRY,
)
COUNT_IS_NEEDED = Clause(
    id="SEND-RETRY-007",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.2, a message to a retry topic without maxReconsumeTimes, in a "
        "request whose version is 121 (V3_4_9) or more, is refused with SYSTEM_ERROR "
        "(1)."
    ),
    source=_RETRY,
    until="4.9.2",
)
GROUPS_COUNT_STANDS_IN = Clause(
    id="SEND-RETRY-008",
    level=Level.MUST,
    text=(
        "From 4.9.3 on, the group's retryMaxTimes applies to a message to a retry "
        "topic without maxReconsumeTimes."
    ),
    source="4.9.7 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#handleRetryAndDLQ",
    since="4.9.3",
)
DEAD_LETTERS_ARE_NOT_READ = Clause(
    id="RETRY-DLQ-002",
    level=Level.MUST,
    text=(
        "Up to 4.9.1, a dead letter topic is created with one queue and PERM_WRITE "
        "(2): it cannot be consumed until an administrator changes its permission."
    ),
    source=_RETRY,
    until="4.9.1",
)
DEAD_LETTERS_ARE_READ = Clause(
    id="RETRY-DLQ-003",
    level=Level.MUST,
    text=(
        "From 4.9.2 on, a dead letter topic is created with one queue and PERM_READ "
        "| PERM_WRITE (6)."
    ),
    source="4.9.7 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#handleRetryAndDLQ",
    since="4.9.2",
)
