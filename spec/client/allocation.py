"""
Allocate the queues of a topic to the members of a consumer group (Java: rebalance).

No broker allocates queues. Each member requests the list of members, sorts queues and
members, and takes its share by a strategy. All members must use the same strategy.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_RULES = "org.apache.rocketmq.client.consumer.rebalance"
_REBALANCE = "4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceImpl"

REBALANCE_PERIOD_MS = 20_000

AVERAGED = Clause(
    id="CLIENT-ALLOCATE-001",
    level=Level.MUST,
    text=(
        "AllocateMessageQueueAveragely (AVG), the default, gives each member "
        "consecutive queues; the first members have one more where the division "
        "leaves a remainder."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragely#allocate",
)
CIRCLE = Clause(
    id="CLIENT-ALLOCATE-002",
    level=Level.MUST,
    text=(
        "AllocateMessageQueueAveragelyByCircle (AVG_BY_CIRCLE) gives member number n "
        "of m the queues n, n + m, n + 2m and so on."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragelyByCircle#allocate",
)
ALLOCATE_BY_CONFIG = Clause(
    id="CLIENT-ALLOCATE-003",
    level=Level.QUIRK,
    text=(
        "AllocateMessageQueueByConfig (CONFIG) gives a member its configured queues, "
        "even if they do not exist or other members have them too."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueByConfig#allocate",
)
MACHINE_ROOM_FROM_THE_FRONT = Clause(
    id="CLIENT-ALLOCATE-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.7, AllocateMessageQueueByMachineRoom counts the queues of brokers "
        "ROOM@NAME in the chosen rooms, but takes whole shares from the front of all "
        "queues of the topic."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueByMachineRoom#allocate",
    until="4.7",
)
CONSISTENT_HASH = Clause(
    id="CLIENT-ALLOCATE-005",
    level=Level.MUST,
    text=(
        "AllocateMessageQueueConsistentHash puts each member at ten places of a "
        "ring, by the first four bytes of the MD5 of its id, a hyphen and 0 to 9. A "
        "queue belongs to the next place after the same hash of its Java string."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueConsistentHash#allocate",
)
STRANGER = Clause(
    id="CLIENT-ALLOCATE-006",
    level=Level.MUST,
    text=(
        "A consumer that is missing from the broker's list of members gets no queue, "
        "except by AllocateMessageQueueByConfig."
    ),
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragely#allocate",
)
MACHINE_ROOM = Clause(
    id="CLIENT-ALLOCATE-007",
    level=Level.MUST,
    text=(
        "From 4.8 on, AllocateMessageQueueByMachineRoom divides the queues of "
        "brokers ROOM@NAME in the chosen rooms into consecutive shares; the "
        "remainder goes one by one to the first members."
    ),
    source=f"4.8.0 {_RULES}.AllocateMessageQueueByMachineRoom#allocate",
    since="4.8",
)
SORTED = Clause(
    id="CLIENT-ALLOCATE-008",
    level=Level.MUST,
    text=(
        "Before allocation, queues are sorted by topic, broker name and queue id, "
        "and members by client id."
    ),
    source=f"{_REBALANCE}#rebalanceByTopic",
)
BROADCAST = Clause(
    id="CLIENT-ALLOCATE-009",
    level=Level.MUST,
    text="A member of a BROADCASTING group gets every queue.",
    source=f"{_REBALANCE}#rebalanceByTopic",
)
PERIOD = Clause(
    id="CLIENT-ALLOCATE-010",
    level=Level.SHOULD,
    text=(
        "A consumer rebalances every 20 seconds, and immediately on "
        "NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceService"
    "#waitInterval",
)
