"""
What administrators ask about traffic and progress, and what they set right.

The bodies of the answers are in `spec.wire.admin_bodies`.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_OFFSETS = "4.6.0 org.apache.rocketmq.broker.offset.ConsumerOffsetManager"

SAMPLE_S = 10
"""Seconds between two samples of the last minute's traffic."""

TRAFFIC = Clause(
    id="ADMIN-STATS-005",
    level=Level.MUST,
    text="VIEW_BROKER_STATS_DATA gives the sum, the rate and the mean of what was"
    " counted under a name and a key, such as TOPIC_PUT_NUMS and a topic, between the"
    " first and the last sample of the last minute, hour and day.",
    source="4.6.0 org.apache.rocketmq.common.stats.StatsItem#computeStatsData",
)
NO_TRAFFIC = Clause(
    id="ADMIN-STATS-006",
    level=Level.MUST,
    text="VIEW_BROKER_STATS_DATA of a name or a key without a count is refused with"
    " SYSTEM_ERROR (1).",
    source=f"{_ADMIN}#ViewBrokerStatsData",
)
TIME_SPANS = Clause(
    id="ADMIN-STATS-007",
    level=Level.MUST,
    text="QUERY_CONSUME_TIME_SPAN gives, by write queue, when its first and its last"
    " message were stored and the one that the group consumed last, and for how long"
    " the next one waits.",
    source=f"{_ADMIN}#queryConsumeTimeSpan",
)
NO_TIME_SPANS = Clause(
    id="ADMIN-STATS-008",
    level=Level.MUST,
    text="QUERY_CONSUME_TIME_SPAN of a topic that the broker lacks is refused with"
    " TOPIC_NOT_EXIST (17).",
    source=f"{_ADMIN}#queryConsumeTimeSpan",
)
ALL_PROGRESS = Clause(
    id="ADMIN-STATS-009",
    level=Level.MUST,
    text="GET_BROKER_CONSUME_STATS gives each group's statistics of each topic that it"
    " has committed offsets of.",
    source=f"{_ADMIN}#fetchAllConsumeStatsInBroker",
)
SMALLEST_OFFSETS = Clause(
    id="OFFSET-CORRECTION-001",
    level=Level.MUST,
    text="QUERY_CORRECTION_OFFSET gives, by queue, the smallest offset that any group"
    " has committed of a topic and that is not below the queue's min offset.",
    source=f"{_OFFSETS}#queryMinOffsetInAllGroup",
)
LEFT_OUT_IS_FORGOTTEN = Clause(
    id="OFFSET-CORRECTION-002",
    level=Level.QUIRK,
    text="What the groups in the filterGroups of QUERY_CORRECTION_OFFSET have committed"
    " is forgotten, of every topic.",
    source=f"{_OFFSETS}#queryMinOffsetInAllGroup",
)
RESUME = Clause(
    id="TXN-RESUME-001",
    level=Level.MUST,
    text="RESUME_CHECK_HALF_MESSAGE stores the message of an id once more as a half"
    " message, its TRANSACTION_CHECK_TIMES 0.",
    source=f"{_ADMIN}#resumeCheckHalfMessage",
    since="4.5.2",
)
FILTER_SERVER = Clause(
    id="ADMIN-FILTER-001",
    level=Level.MAY,
    text="A broker answers REGISTER_FILTER_SERVER with its name and id, and tells name"
    " servers of the address until the connection is closed.",
    source=f"{_ADMIN}#registerFilterServer",
    until="4.9.5",
)
ACCESS_IS_OFF = Clause(
    id="ADMIN-ACL-001",
    level=Level.QUIRK,
    text="While access control is off, changing accounts and addresses is refused with"
    " a code of its own: 209, 210 and 211.",
    source=f"{_ADMIN}#updateAndCreateAccessConfig",
    since="4.5",
    until="5.3.2",
)
ACCESS_IS_NOT_TOLD = Clause(
    id="ADMIN-ACL-002",
    level=Level.QUIRK,
    text="While access control is off, a question for its settings is not answered.",
    source=f"{_ADMIN}#getBrokerAclConfigVersion",
    since="4.5",
    until="5.1",
)
