"""
Pops of a consumer: queues that the broker assigns, receipts, and failed messages.

The requests are in :mod:`spec.wire.pop`. A push consumer pops if its setting
clientRebalance is false and the broker's assignment has the mode POP.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_IMPL = "5.3.3 org.apache.rocketmq.client.impl.consumer"
_PUSHED = f"{_IMPL}.DefaultMQPushConsumerImpl"
_SERVICE = f"{_IMPL}.ConsumeMessagePopConcurrentlyService"
_REBALANCE = f"{_IMPL}.RebalanceImpl"
_API = "5.3.3 org.apache.rocketmq.client.impl.MQClientAPIImpl"

INVISIBLE_MS = 60_000
"""invisibleTime of a pop (Java: popInvisibleTime)."""
POLL_MS = 15_000
"""pollTime of a pop (Java: BROKER_SUSPEND_MAX_TIME_MILLIS)."""
DELAYS_S = (10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600)
"""Seconds until a failed message is visible again, by its reconsume times.

The last one is 7200 (Java: popDelayLevel).
"""
AFTER_ERROR_MS = 1000
"""Milliseconds after an error until the next pop of the queue."""

REQUESTS_ASSIGNMENT = Clause(
    id="CLIENT-POP-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, a concurrent, clustering push consumer with clientRebalance "
        "false sends QUERY_ASSIGNMENT (400) with topic, consumerGroup, clientId, "
        "strategyName and messageModel in the body, and requests no consumer list."
    ),
    source=f"{_REBALANCE}#getRebalanceResultFromBroker",
    since="5.0",
)
MODE_OF_QUEUE = Clause(
    id="CLIENT-POP-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, a consumer sends POP_MESSAGE (200050) for the assigned queues "
        "with mode POP, and PULL_MESSAGE (11) for those with mode PULL."
    ),
    source=f"{_REBALANCE}#updateMessageQueueAssignment",
    since="5.0",
)
POP_REQUEST = Clause(
    id="CLIENT-POP-003",
    level=Level.MUST,
    text=(
        "From 5.0 on, a consumer's POP_MESSAGE has maxMsgNums 32, invisibleTime "
        "60,000, pollTime 15,000, order false, the subscription as exp and expType, "
        "and initMode 0 (MIN) for CONSUME_FROM_FIRST_OFFSET, else 1 (MAX)."
    ),
    source=f"{_PUSHED}#popMessage",
    since="5.0",
)
ACKNOWLEDGES = Clause(
    id="CLIENT-POP-004",
    level=Level.MUST,
    text=(
        "From 5.0 on, a consumer sends ACK_MESSAGE (200051) once for each message that "
        "its listener handled. Its extraInfo is a receipt of the response's "
        "startOffsetInfo, popTime, invisibleTime and reviveQid, and of the message's "
        "queue offset."
    ),
    source=f"{_PUSHED}#ackAsync",
    since="5.0",
)
RECEIPT_OF_MESSAGE = Clause(
    id="CLIENT-POP-005",
    level=Level.MUST,
    text=(
        "From 5.1 on, a message with the property POP_CK is acknowledged with this "
        "receipt as extraInfo. For topic kind 1 the topic of ACK_MESSAGE is "
        "%RETRY%GROUP_TOPIC. A client of 5.0 replaces the property."
    ),
    source=f"{_API}#processPopResponse",
    since="5.1",
)
FAILED = Clause(
    id="CLIENT-POP-006",
    level=Level.MUST,
    text=(
        "From 5.0 on, a popped message that the listener did not handle is neither "
        "acknowledged nor sent back: the consumer sends "
        "CHANGE_MESSAGE_INVISIBLETIME (200053) with its receipt."
    ),
    source=f"{_SERVICE}#processConsumeResult",
    since="5.0",
)
DELAY_OF_FAILED = Clause(
    id="CLIENT-POP-007",
    level=Level.MUST,
    text=(
        "From 5.0 on, the invisibleTime of CHANGE_MESSAGE_INVISIBLETIME is 10,000 for "
        "a message with reconsume times 0, then 30,000, 60,000 and 120,000."
    ),
    source=f"{_PUSHED}#popDelayLevel",
    since="5.0",
)
LATE_IS_DROPPED = Clause(
    id="CLIENT-POP-008",
    level=Level.MUST,
    text=(
        "From 5.0 on, a popped message whose invisible time is over is not delivered "
        "to the listener, and not acknowledged."
    ),
    source=f"{_SERVICE}.ConsumeRequest#run",
    since="5.0",
)
LATE_RESULT = Clause(
    id="CLIENT-POP-009",
    level=Level.MUST,
    text=(
        "From 5.0 on, a consumer does not acknowledge a message whose invisible time "
        "ended while the listener handled it."
    ),
    source=f"{_SERVICE}.ConsumeRequest#run",
    since="5.0",
)
OTHER_TAG = Clause(
    id="CLIENT-POP-010",
    level=Level.MUST,
    text=(
        "From 5.0 on, a popped message whose tag is not subscribed is acknowledged "
        "without delivery to the listener."
    ),
    source=f"{_PUSHED}#processPopResult",
    since="5.0",
)
TOO_OFTEN = Clause(
    id="CLIENT-POP-011",
    level=Level.MUST,
    text=(
        "From 5.3.1 on, a popped message with more reconsume times than "
        "maxReconsumeTimes is acknowledged without delivery to the listener."
    ),
    source=f"{_PUSHED}#processPopResult",
    since="5.3.1",
)
POPS_AGAIN = Clause(
    id="CLIENT-POP-012",
    level=Level.SHOULD,
    text=(
        "From 5.0 on, a consumer pops the queue again after POLLING_TIMEOUT (210) "
        "without a delay, and one second after POLLING_FULL (209) or an error."
    ),
    source=f"{_PUSHED}#popMessage",
    since="5.0",
)
ORDERLY_PULLS = Clause(
    id="CLIENT-POP-013",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, an orderly or broadcasting consumer with clientRebalance false "
        "sends no QUERY_ASSIGNMENT, and pulls."
    ),
    source=f"{_IMPL}.RebalancePushImpl#clientRebalance",
    since="5.0",
)
COMMITS_NOTHING = Clause(
    id="CLIENT-POP-014",
    level=Level.MUST,
    text=(
        "From 5.0 on, a consumer commits no offset of a popped queue, also when it "
        "is stopped (UNREGISTER_CLIENT)."
    ),
    source=f"{_PUSHED}#persistConsumerOffset",
    since="5.0",
)
