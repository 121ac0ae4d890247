"""
How the members of a consumer group share the queues of a topic (Java: rebalance).

No broker hands queues out. Each member asks who is there, sorts queues and members,
and takes the share that a rule gives it; all must use the same rule.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_RULES = "org.apache.rocketmq.client.consumer.rebalance"
_REBALANCE = "4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceImpl"

REBALANCE_PERIOD_MS = 20_000

AVERAGED = Clause(
    id="CLIENT-ALLOCATE-001",
    level=Level.MUST,
    text="By the rule AVG, the default, each member takes a run of neighbouring queues,"
    " and where they do not divide evenly the first members have one more.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragely#allocate",
)
CIRCLE = Clause(
    id="CLIENT-ALLOCATE-002",
    level=Level.MUST,
    text="By the rule AVG_BY_CIRCLE member number n of m takes the queues n, n + m,"
    " n + 2m and so on.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragelyByCircle#allocate",
)
CONFIG = Clause(
    id="CLIENT-ALLOCATE-003",
    level=Level.QUIRK,
    text="By the rule CONFIG a member takes the queues it was told, whether they exist"
    " or others have them too.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueByConfig#allocate",
)
MACHINE_ROOM_FROM_THE_FRONT = Clause(
    id="CLIENT-ALLOCATE-004",
    level=Level.QUIRK,
    text="By the rule MACHINE_ROOM the queues of brokers named ROOM@NAME in the chosen"
    " rooms are counted and divided, but all whole shares are taken from the front of"
    " the topic's queues, whatever their room.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueByMachineRoom#allocate",
    until="4.7",
)
CONSISTENT_HASH = Clause(
    id="CLIENT-ALLOCATE-005",
    level=Level.MUST,
    text="By the rule CONSISTENT_HASH each member stands at ten places of a ring, the"
    " first four bytes of the MD5 of its id, - and 0 to 9; a queue belongs to the next"
    " place from the same hash of its name as Java prints it.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueConsistentHash#allocate",
)
STRANGER = Clause(
    id="CLIENT-ALLOCATE-006",
    level=Level.MUST,
    text="A consumer that the broker does not name as a member takes no queue, except"
    " by the rule CONFIG.",
    source=f"4.6.0 {_RULES}.AllocateMessageQueueAveragely#allocate",
)
MACHINE_ROOM = Clause(
    id="CLIENT-ALLOCATE-007",
    level=Level.MUST,
    text="By the rule MACHINE_ROOM the queues of brokers named ROOM@NAME in the chosen"
    " rooms are shared in runs; the remainder goes one by one to the first members.",
    source=f"4.8.0 {_RULES}.AllocateMessageQueueByMachineRoom#allocate",
    since="4.8",
)
SORTED = Clause(
    id="CLIENT-ALLOCATE-008",
    level=Level.MUST,
    text="Before a rule is used, queues are sorted by topic, broker name and number,"
    " and members by client id.",
    source=f"{_REBALANCE}#rebalanceByTopic",
)
BROADCAST = Clause(
    id="CLIENT-ALLOCATE-009",
    level=Level.MUST,
    text="A member of a broadcasting group takes every queue.",
    source=f"{_REBALANCE}#rebalanceByTopic",
)
PERIOD = Clause(
    id="CLIENT-ALLOCATE-010",
    level=Level.SHOULD,
    text="A consumer looks at its share anew every 20 seconds, and at once when a"
    " broker tells it that the members changed.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalanceService"
    "#waitInterval",
)
