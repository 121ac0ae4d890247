"""
A slave is a broker that serves what its master wrote, and writes nothing of its own.

The commit log comes over the connection that ``replication`` describes. What else a
slave has to know it asks its master for, every ten seconds, with the same four
requests that tools use: topics, groups, and how far consumers and delay levels are.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SYNCHRONIZE_FIRST_MS = 3_000
SYNCHRONIZE_PERIOD_MS = 10_000
"""How often a slave asks for its master's tables."""
ADDRESS_LENGTH_MIN = 6
"""A shorter haMasterAddress is as good as none."""

_BROKER = "4.6.0 org.apache.rocketmq.broker.BrokerController"
_SYNC = "4.6.0 org.apache.rocketmq.broker.slave.SlaveSynchronize"
_PULL = "4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore"

SETTINGS_NAME_THE_MASTER = Clause(
    id="HA-SLAVE-001",
    level=Level.MUST,
    text="A slave whose settings have a haMasterAddress connects to it.",
    source=f"{_BROKER}#initialize",
    until="4.9",
)
SETTINGS_NAME_NOBODY = Clause(
    id="HA-SLAVE-015",
    level=Level.QUIRK,
    text="A slave whose settings have a haMasterAddress connects to nobody: it is noted"
    " before there is anything to note it.",
    source="5.3.3 org.apache.rocketmq.store.ha.DefaultHAService#updateHaMasterAddress",
    since="5.0",
)
NAME_SERVER_NAMES_THE_MASTER = Clause(
    id="HA-SLAVE-016",
    level=Level.MUST,
    text="A slave without haMasterAddress connects to the haServerAddr of the name"
    " server's answer to its registration.",
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
    text="A slave makes consume queues and index of the records that came, and answers"
    " pulls, queries and questions of offset from them.",
    source=f"{_STORE}$ReputMessageService#doReput",
)
TOPICS_COME = Clause(
    id="HA-SLAVE-004",
    level=Level.MUST,
    text="A slave takes over its master's topics, and forgets those that its master"
    " does not have, where the versions of the tables differ.",
    source=f"{_SYNC}#syncTopicConfig",
)
VERSION_COMES = Clause(
    id="HA-SLAVE-018",
    level=Level.MUST,
    text="A slave's table of topics has the version of its master's.",
    source=f"{_SYNC}#syncTopicConfig",
    until="4.9",
)
VERSION_RUNS_ON = Clause(
    id="HA-SLAVE-019",
    level=Level.QUIRK,
    text="A slave that takes over its master's topics counts each topic that it had"
    " before as a change, so that the versions differ and it does the same next time.",
    source="5.3.3 org.apache.rocketmq.broker.slave.SlaveSynchronize#syncTopicConfig",
    since="5.0",
)
OFFSETS_COME = Clause(
    id="HA-SLAVE-005",
    level=Level.MUST,
    text="A slave takes over the offsets of each topic@group that its master has.",
    source=f"{_SYNC}#syncConsumerOffset",
)
DELAY_OFFSETS_COME = Clause(
    id="HA-SLAVE-006",
    level=Level.MUST,
    text="A slave keeps its master's answer to GET_ALL_DELAY_OFFSET as"
    " config/delayOffset.json.",
    source=f"{_SYNC}#syncDelayOffset",
)
GROUPS_COME = Clause(
    id="HA-SLAVE-007",
    level=Level.MUST,
    text="A slave takes over its master's subscription groups and version where the"
    " versions differ.",
    source=f"{_SYNC}#syncSubscriptionGroupConfig",
)
MASTER_TO_ASK = Clause(
    id="HA-SLAVE-008",
    level=Level.MUST,
    text="A slave asks the masterAddr of the name server's answer to its registration"
    " for topics, groups and offsets, first after 3 s and then every 10 s.",
    source=f"{_BROKER}#handleSlaveSynchronize",
    until="4.9",
)
NO_OFFSET_CORRECTED = Clause(
    id="HA-SLAVE-009",
    level=Level.MUST,
    text="A slave without offsetCheckInSlave answers a pull outside of its queue with"
    " PULL_RETRY_IMMEDIATELY (20) and the offset that was asked for.",
    source=f"{_STORE}#nextOffsetCorrection",
)
NOTHING_COMMITTED = Clause(
    id="HA-SLAVE-010",
    level=Level.MUST,
    text="A slave ignores the commitOffset of a pull.",
    source=f"{_PULL}#processRequest",
    until="4.9",
)
NOTHING_DELIVERED = Clause(
    id="HA-SLAVE-011",
    level=Level.MUST,
    text="A slave delivers no delayed message and asks about no transaction.",
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
    text="A pull that a slave holds is answered by the next look at held pulls, every 5"
    " s, and not by the arrival of a message.",
    source=f"{_STORE}$ReputMessageService#doReput",
    until="4.9",
)
READ_AT_THE_SLAVE = Clause(
    id="HA-SLAVE-014",
    level=Level.QUIRK,
    text="A slave without slaveReadEnable serves pulls all the same, and sends the"
    " reader back to the master with suggestWhichBrokerId 0.",
    source=f"{_PULL}#processRequest",
    until="4.9",
)
NOT_READ_AT_THE_SLAVE = Clause(
    id="HA-SLAVE-017",
    level=Level.MUST,
    text="A slave without slaveReadEnable refuses pulls with SYSTEM_BUSY (2).",
    source="5.3.3 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#rejectRequest",
    since="5.0",
)
