"""
A slave is a broker that serves its master's messages and accepts none of its own.

The commit log comes over the connection of ``replication``. A slave requests its
master's tables every ten seconds, with the same four requests that tools use: topics,
groups, consumer offsets and delay offsets.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SYNCHRONIZE_FIRST_MS = 3_000
SYNCHRONIZE_PERIOD_MS = 10_000
"""Interval of requests for the master's tables."""
ADDRESS_LENGTH_MIN = 6
"""A shorter haMasterAddress is as good as none."""

_BROKER = "4.6.0 org.apache.rocketmq.broker.BrokerController"
_SYNC = "4.6.0 org.apache.rocketmq.broker.slave.SlaveSynchronize"
_PULL = "4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"

SETTINGS_NAME_THE_MASTER = Clause(
    id="HA-SLAVE-001",
    level=Level.MUST,
    text=(
        "Up to 4.9, a slave with a haMasterAddress in its settings connects to that "
        "address."
    ),
    source=f"{_BROKER}#initialize",
    until="4.9",
)
HA_MASTER_SETTING_IGNORED = Clause(
    id="HA-SLAVE-015",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a slave ignores a haMasterAddress in its settings, because it "
        "is applied before the HA client exists."
    ),
    source="5.3.3 org.apache.rocketmq.store.ha.DefaultHAService#updateHaMasterAddress",
    since="5.0",
)
NAME_SERVER_NAMES_THE_MASTER = Clause(
    id="HA-SLAVE-016",
    level=Level.MUST,
    text=(
        "A slave without haMasterAddress connects to the haServerAddr of its "
        "registration's response."
    ),
    source=f"{_BROKER}#doRegisterBrokerAll",
)
SAME_LOG = Clause(
    id="HA-SLAVE-002",
    level=Level.MUST,
    text="The commit log of a slave has at each offset the bytes of its master's.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#appendData",
)
SAME_QUEUES = Clause(
    id="HA-SLAVE-003",
    level=Level.MUST,
    text=(
        "A slave dispatches the replicated records to its own consume queues and "
        "index, and serves pulls, queries and offset requests from them."
    ),
    source=f"{_STORE}$ReputMessageService#doReput",
)
TOPICS_COME = Clause(
    id="HA-SLAVE-004",
    level=Level.MUST,
    text=(
        "A slave copies its master's topics, and drops topics that its master does "
        "not have, where the data versions differ."
    ),
    source=f"{_SYNC}#syncTopicConfig",
)
VERSION_COMES = Clause(
    id="HA-SLAVE-018",
    level=Level.MUST,
    text="Up to 5.3.1, a slave's topic table has its master's data version.",
    source=f"{_SYNC}#syncTopicConfig",
    until="5.3.1",
)
VERSION_RUNS_ON = Clause(
    id="HA-SLAVE-019",
    level=Level.QUIRK,
    text=(
        "From 5.3.2 to 5.4, a slave that copies its master's topics counts each topic "
        "that it already had as a change. The versions differ again, and the next "
        "synchronization copies the topics again."
    ),
    source="5.3.3 org.apache.rocketmq.broker.slave.SlaveSynchronize#syncTopicConfig",
    since="5.3.2",
    until="5.4",
)
VERSION_COMES_AGAIN = Clause(
    id="HA-SLAVE-020",
    level=Level.MUST,
    text="From 5.5 on, a slave's topic table has its master's data version again.",
    source="5.5.0 org.apache.rocketmq.broker.slave.SlaveSynchronize#syncTopicConfig",
    since="5.5",
)
OFFSETS_COME = Clause(
    id="HA-SLAVE-005",
    level=Level.MUST,
    text="A slave copies the offsets of each topic@group that its master has.",
    source=f"{_SYNC}#syncConsumerOffset",
)
DELAY_OFFSETS_COME = Clause(
    id="HA-SLAVE-006",
    level=Level.MUST,
    text=(
        "A slave stores its master's response to GET_ALL_DELAY_OFFSET as "
        "config/delayOffset.json."
    ),
    source=f"{_SYNC}#syncDelayOffset",
)
GROUPS_COME = Clause(
    id="HA-SLAVE-007",
    level=Level.MUST,
    text=(
        "A slave copies its master's subscription groups and data version where the "
        "versions differ."
    ),
    source=f"{_SYNC}#syncSubscriptionGroupConfig",
)
MASTER_OF_TABLES = Clause(
    id="HA-SLAVE-008",
    level=Level.MUST,
    text=(
        "Up to 4.9, a slave requests topics, groups and offsets from the masterAddr "
        "of its registration's response, first after 3 s and then every 10 s. In "
        "4.4 it does so first after 10 s and then every 60 s."
    ),
    source=f"{_BROKER}#handleSlaveSynchronize",
    until="4.9",
)
NO_OFFSET_CORRECTED = Clause(
    id="HA-SLAVE-009",
    level=Level.MUST,
    text=(
        "A slave without offsetCheckInSlave answers a pull outside of its queue with "
        "PULL_RETRY_IMMEDIATELY (20) and the requested offset."
    ),
    source=f"{_STORE}#nextOffsetCorrection",
)
NOTHING_COMMITTED = Clause(
    id="HA-SLAVE-010",
    level=Level.MUST,
    text="Up to 4.9, a slave ignores the commitOffset of a pull.",
    source=f"{_PULL}#processRequest",
    until="4.9",
)
NOTHING_DELIVERED = Clause(
    id="HA-SLAVE-011",
    level=Level.MUST,
    text="A slave delivers no delayed message and checks no transaction.",
    source=f"{_STORE}#handleScheduleMessageService",
)
ID_OF_A_SLAVE = Clause(
    id="HA-SLAVE-012",
    level=Level.MUST,
    text="A broker whose brokerRole is SLAVE does not start with a brokerId of 0.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController",
)
PULLS_WAIT_LONGER = Clause(
    id="HA-SLAVE-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a pull that a slave holds is answered by the "
        "PullRequestHoldService's check every 5 s, and not by the arrival of a "
        "message."
    ),
    source=f"{_STORE}$ReputMessageService#doReput",
    until="4.9",
)
READ_AT_THE_SLAVE = Clause(
    id="HA-SLAVE-014",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a slave without slaveReadEnable serves pulls, and redirects the "
        "consumer to the master with suggestWhichBrokerId 0."
    ),
    source=f"{_PULL}#processRequest",
    until="4.9",
)
NOT_READ_AT_THE_SLAVE = Clause(
    id="HA-SLAVE-017",
    level=Level.MUST,
    text=(
        "From 5.0 on, a slave without slaveReadEnable refuses pulls with SYSTEM_BUSY "
        "(2)."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#rejectRequest",
    since="5.0",
)
