"""
Statistics of traffic and progress for administrators, and repairs by them.

The bodies of the responses are in `spec.wire.bodies.admin_bodies`.
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
    text=(
        "VIEW_BROKER_STATS_DATA returns sum, rate and mean of a counter, such as "
        "TOPIC_PUT_NUMS of a topic, over the last minute, hour and day of samples."
    ),
    source="4.6.0 org.apache.rocketmq.common.stats.StatsItem#computeStatsData",
)
NO_TRAFFIC = Clause(
    id="ADMIN-STATS-006",
    level=Level.MUST,
    text=(
        "VIEW_BROKER_STATS_DATA for a name or key without a counter is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#ViewBrokerStatsData",
)
TIME_SPANS = Clause(
    id="ADMIN-STATS-007",
    level=Level.MUST,
    text=(
        "QUERY_CONSUME_TIME_SPAN returns, by write queue, the store times of its "
        "first, its last and the last consumed message, and the delay of the next "
        "one."
    ),
    source=f"{_ADMIN}#queryConsumeTimeSpan",
)
TIME_SPAN_TEXTS = Clause(
    id="ADMIN-STATS-012",
    level=Level.MUST,
    text=(
        "Each minTimeStamp, maxTimeStamp and consumeTimeStamp of "
        "QUERY_CONSUME_TIME_SPAN has a member of its name and `Str`, the local time as "
        "`yyyy-MM-dd#HH:mm:ss:SSS`."
    ),
    source="4.6.0 org.apache.rocketmq.common.protocol.body.QueueTimeSpan"
    "#getMinTimeStampStr",
)
NO_TIME_SPANS = Clause(
    id="ADMIN-STATS-008",
    level=Level.MUST,
    text=(
        "QUERY_CONSUME_TIME_SPAN for a topic that the broker does not have is "
        "refused with TOPIC_NOT_EXIST (17)."
    ),
    source=f"{_ADMIN}#queryConsumeTimeSpan",
)
ALL_PROGRESS = Clause(
    id="ADMIN-STATS-009",
    level=Level.MUST,
    text=(
        "GET_BROKER_CONSUME_STATS returns each group's statistics of each topic of "
        "which it has committed offsets. Where isOrder is true, it is ordered topics "
        "only. brokerAddr is the broker's address, totalDiff the sum of differences."
    ),
    source=f"{_ADMIN}#fetchAllConsumeStatsInBroker",
)
UNSUBSCRIBED_TOPIC = Clause(
    id="ADMIN-STATS-011",
    level=Level.QUIRK,
    text=(
        "GET_CONSUME_STATS and GET_BROKER_CONSUME_STATS leave out a topic while the "
        "members of a group subscribe to other topics only. Committed offsets do not "
        "change this."
    ),
    source=f"{_ADMIN}#getConsumeStats",
)
SMALLEST_OFFSETS = Clause(
    id="OFFSET-CORRECTION-001",
    level=Level.MUST,
    text=(
        "QUERY_CORRECTION_OFFSET returns, by queue, the smallest offset that any "
        "group has committed of a topic and that is not below the queue's min "
        "offset."
    ),
    source=f"{_OFFSETS}#queryMinOffsetInAllGroup",
)
LEFT_OUT_IS_FORGOTTEN = Clause(
    id="OFFSET-CORRECTION-002",
    level=Level.QUIRK,
    text=(
        "QUERY_CORRECTION_OFFSET deletes the committed offsets of the groups in "
        "filterGroups, of every topic."
    ),
    source=f"{_OFFSETS}#queryMinOffsetInAllGroup",
)
COMPARED_IS_IGNORED = Clause(
    id="OFFSET-CORRECTION-003",
    level=Level.QUIRK,
    text=(
        "Up to 5.0, compareGroup of QUERY_CORRECTION_OFFSET has no effect: a broker "
        "searches its offsets with topic and group exchanged."
    ),
    source=f"{_ADMIN}#queryCorrectionOffset",
    until="5.0",
)
COMPARED_IS_BEHIND = Clause(
    id="OFFSET-CORRECTION-004",
    level=Level.MUST,
    text=(
        "From 5.1 on, QUERY_CORRECTION_OFFSET returns Long.MAX_VALUE for a queue in "
        "which compareGroup has committed less than the smallest offset."
    ),
    source=(
        "5.1.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
        "#queryCorrectionOffset"
    ),
    since="5.1",
)
RESUME = Clause(
    id="TXN-RESUME-001",
    level=Level.MUST,
    text=(
        "From 4.5.2 on, RESUME_CHECK_HALF_MESSAGE stores the message of an id once "
        "more as a half message, with TRANSACTION_CHECK_TIMES 0."
    ),
    source=f"{_ADMIN}#resumeCheckHalfMessage",
    since="4.5.2",
)
FILTER_SERVER = Clause(
    id="ADMIN-FILTER-001",
    level=Level.MAY,
    text=(
        "Up to 4.9.5, a broker answers REGISTER_FILTER_SERVER with its name and id, "
        "and registers the filter server's address with name servers until the "
        "connection is closed."
    ),
    source=f"{_ADMIN}#registerFilterServer",
    until="4.9.5",
)
ACCESS_IS_OFF = Clause(
    id="ADMIN-ACL-001",
    level=Level.QUIRK,
    text=(
        "Up to 5.3.2, while aclEnable is false, the requests 50, 51 and 53 that "
        "change accounts and addresses are refused with the codes 209, 210 and 211."
    ),
    source=f"{_ADMIN}#updateAndCreateAccessConfig",
    since="4.5.2",
    until="5.3.2",
)
ACL_QUERY_UNANSWERED = Clause(
    id="ADMIN-ACL-002",
    level=Level.QUIRK,
    text=(
        "Up to 5.1, while aclEnable is false, a request for the access control "
        "settings gets no response."
    ),
    source=f"{_ADMIN}#getBrokerAclConfigVersion",
    since="4.5.2",
    until="5.1",
)
