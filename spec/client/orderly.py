"""
Orderly consumption: one member of a group holds the lock of each queue.

The lock itself is the broker's, see GROUP-LOCK-* in ``spec.wire.consumer.groups``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_REBALANCE = "4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceImpl"

LOCK_PERIOD_MS = 20_000
LOCK_TIMEOUT_MS = 1000
LOCK_LIVES_MS = 30_000
"""A lock that was last confirmed longer ago is expired."""
AFTER_FAILURE_MS = 1000
AFTER_UNLOCKED_MS = 3000
"""Between two questions for a lock that was refused."""

LOCKED_FIRST = Clause(
    id="CLIENT-ORDERLY-001",
    level=Level.MUST,
    text=(
        "An orderly consumer locks a queue at the master before it pulls, and leaves "
        "a queue that it cannot lock until the next rebalance."
    ),
    source=f"{_REBALANCE}#updateProcessQueueTableInRebalance",
)
LOCKS_ARE_RENEWED = Clause(
    id="CLIENT-ORDERLY-002",
    level=Level.MUST,
    text=(
        "An orderly consumer renews its locks every 20 seconds, and consumes no "
        "message of a queue whose lock it could not renew."
    ),
    source=f"{_REBALANCE}#lockAll",
)
UNLOCKED = Clause(
    id="CLIENT-ORDERLY-003",
    level=Level.MUST,
    text="An orderly consumer that loses a queue commits its offset and unlocks it.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#removeUnnecessaryMessageQueue",
)
TRIED_AGAIN_HERE = Clause(
    id="CLIENT-ORDERLY-004",
    level=Level.MUST,
    text=(
        "An orderly consumer consumes a failed message again after one second, "
        "before any later message of the queue."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#processConsumeResult",
)
COUNTED_HERE = Clause(
    id="CLIENT-ORDERLY-005",
    level=Level.MUST,
    text=(
        "Each time that an orderly consumer consumes a message again, the message's "
        "reconsumeTimes is one higher."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#checkReconsumeTimes",
)
LIMITED = Clause(
    id="CLIENT-ORDERLY-006",
    level=Level.MUST,
    text=(
        "An orderly consumer consumes a failed message again without limit. If "
        "reconsumeTimes has reached a set maxReconsumeTimes, the consumer sends it "
        "to the group's retry topic with MAX_RECONSUME_TIMES, for the broker to "
        "store in the DLQ."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#checkReconsumeTimes",
)
LOST_LOCK_IS_REQUESTED = Clause(
    id="CLIENT-ORDERLY-007",
    level=Level.MUST,
    text=(
        "Without a queue's lock, an orderly consumer pulls nothing of it, keeps its "
        "pulled messages and requests the lock every 3 seconds; with the lock it "
        "continues with them."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ConsumeMessageOrderlyService"
    "#tryLockLaterAndReconsume",
)
LOCKS_RUN_OUT = Clause(
    id="CLIENT-ORDERLY-008",
    level=Level.MUST,
    text=(
        "A renewal without a response, or with a code other than SUCCESS (0), leaves "
        "a lock unchanged; a lock last confirmed more than 30 seconds ago is "
        "expired."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ProcessQueue#isLockExpired",
)
RENEWED_TOGETHER = Clause(
    id="CLIENT-ORDERLY-009",
    level=Level.SHOULD,
    text=(
        "An orderly consumer renews the locks of all its queues of a broker with one "
        "LOCK_BATCH_MQ request."
    ),
    source=f"{_REBALANCE}#lockAll",
)
