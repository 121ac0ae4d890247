"""
How a group reads in order: a queue at a time by one member alone, who holds its lock.

The lock itself is the broker's, see GROUP-LOCK-* in ``spec.wire.groups``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_REBALANCE = "4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceImpl"

LOCK_PERIOD_MS = 20_000
LOCK_TIMEOUT_MS = 1000
LOCK_LIVES_MS = 30_000
"""A lock that was last confirmed longer ago is believed in no more."""
AFTER_FAILURE_MS = 1000
AFTER_UNLOCKED_MS = 3000
"""Between two questions for a lock that was refused."""

LOCKED_FIRST = Clause(
    id="CLIENT-ORDER-001",
    level=Level.MUST,
    text="A consumer in order locks a queue at the master before it reads it, and"
    " leaves one that it cannot lock until it next looks at its share.",
    source=f"{_REBALANCE}#updateProcessQueueTableInRebalance",
)
LOCKS_ARE_RENEWED = Clause(
    id="CLIENT-ORDER-002",
    level=Level.MUST,
    text="A consumer in order locks its queues again every 20 seconds, and handles no"
    " message of a queue that it could not lock again.",
    source=f"{_REBALANCE}#lockAll",
)
UNLOCKED = Clause(
    id="CLIENT-ORDER-003",
    level=Level.MUST,
    text="A consumer in order that gives a queue up commits its offset and unlocks it.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#removeUnnecessaryMessageQueue",
)
TRIED_AGAIN_HERE = Clause(
    id="CLIENT-ORDER-004",
    level=Level.MUST,
    text="A message that a consumer in order could not handle is handled again by it"
    " after one second, before any that follows in the queue.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#processConsumeResult",
)
COUNTED_HERE = Clause(
    id="CLIENT-ORDER-005",
    level=Level.MUST,
    text="Each time that a consumer in order handles a message again, the message's"
    " count of deliveries (reconsumeTimes) is one higher.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#checkReconsumeTimes",
)
LIMITED = Clause(
    id="CLIENT-ORDER-006",
    level=Level.MUST,
    text="A message that fails in order is handled again without end; where"
    " maxReconsumeTimes is set and the message's count has reached it, it is sent to"
    " the group's retry topic with MAX_RECONSUME_TIMES, so that the broker makes it a"
    " dead letter, and the queue goes on.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#checkReconsumeTimes",
)
LOST_LOCK_IS_ASKED_FOR = Clause(
    id="CLIENT-ORDER-007",
    level=Level.MUST,
    text="While a queue could not be locked again, a consumer in order pulls nothing of"
    " it, keeps what it has pulled and asks for the lock, again every 3 seconds; with"
    " the lock it goes on with what it kept.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#tryLockLaterAndReconsume",
)
LOCKS_RUN_OUT = Clause(
    id="CLIENT-ORDER-008",
    level=Level.MUST,
    text="A renewal without an answer, or with one that is not SUCCESS (0), leaves a"
    " lock as it was; but one that was last confirmed more than 30 seconds ago is as"
    " good as lost.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ProcessQueue#isLockExpired",
)
RENEWED_TOGETHER = Clause(
    id="CLIENT-ORDER-009",
    level=Level.SHOULD,
    text="A consumer in order renews the locks of all its queues of a broker with one"
    " request.",
    source=f"{_REBALANCE}#lockAll",
)
