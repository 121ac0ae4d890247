"""
Permission that each request needs, from 4.4 to 5.3.2 (Java: PlainAccessValidator).

A permission is about a topic or a group. Java keeps both in one table, a group as its
retry topic. Requests outside this table need a valid signature only.
"""

from __future__ import annotations

from spec.clause import Clause, Level
from spec.wire.remoting.request_code import RequestCode

_PARSE = "4.6.0 org.apache.rocketmq.acl.plain.PlainAccessValidator#parse"
_PARSE_4_9 = "4.9.7 org.apache.rocketmq.acl.plain.PlainAccessValidator#parse"
_LAST = "5.3.2"

ADMIN_CODES = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
    }
)
"""Requests that need an account with admin: true (Java: Permission#ADMIN_CODE)."""

ADMIN_REQUESTS = Clause(
    id="SEC-PERM-001",
    level=Level.MUST,
    text=(
        "UPDATE_AND_CREATE_TOPIC (17), UPDATE_BROKER_CONFIG (25), "
        "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), DELETE_SUBSCRIPTIONGROUP (207) and "
        "DELETE_TOPIC_IN_BROKER (215) need an account with admin: true. The remark of "
        "a refusal is Need admin permission for request code=N, but accessKey=KEY is "
        "not."
    ),
    source="4.6.0 org.apache.rocketmq.acl.plain.PlainPermissionManager#checkPerm",
    until=_LAST,
)
OTHER_REQUESTS = Clause(
    id="SEC-PERM-002",
    level=Level.QUIRK,
    text=(
        "From 4.5.2 to 4.9, any account may change and delete accounts, with "
        "UPDATE_AND_CREATE_ACL_CONFIG (50) and DELETE_ACL_CONFIG (51)."
    ),
    source="4.6.0 org.apache.rocketmq.acl.common.Permission#ADMIN_CODE",
    since="4.5.2",
    until="4.9",
)
SEND = Clause(
    id="SEC-PERM-003",
    level=Level.MUST,
    text=(
        "SEND_MESSAGE (10) and SEND_MESSAGE_V2 (310) need PUB on the topic. The remark "
        "of a refusal is No default permission for topic:NAME. From 5.1.1 on it omits "
        "default for a topic in topicPerms."
    ),
    source=_PARSE,
    until=_LAST,
)
SEND_BATCH = Clause(
    id="SEC-PERM-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, SEND_BATCH_MESSAGE (320) needs no permission: an account without "
        "PUB on a topic may send batches to it."
    ),
    source=_PARSE,
    until="4.9",
)
SEND_BACK_OLD = Clause(
    id="SEC-PERM-005",
    level=Level.MUST,
    text=(
        "From 4.5 to 4.9.3, CONSUMER_SEND_MSG_BACK (36) needs PUB on originTopic and "
        "SUB on the group."
    ),
    source=_PARSE,
    since="4.5",
    until="4.9.3",
)
SEND_BACK = Clause(
    id="SEC-PERM-006",
    level=Level.MUST,
    text="From 4.9.4 on, CONSUMER_SEND_MSG_BACK (36) needs SUB on the group only.",
    source=_PARSE_4_9,
    since="4.9.4",
    until=_LAST,
)
PULL = Clause(
    id="SEC-PERM-007",
    level=Level.MUST,
    text=(
        "PULL_MESSAGE (11) needs SUB on the topic and SUB on the group. The remark of "
        "a refusal has topic:NAME or group:NAME."
    ),
    source=_PARSE,
    until=_LAST,
)
QUERY = Clause(
    id="SEC-PERM-008",
    level=Level.MUST,
    text="QUERY_MESSAGE (12) needs SUB on the topic.",
    source=_PARSE,
    until=_LAST,
)
HEARTBEAT = Clause(
    id="SEC-PERM-009",
    level=Level.MUST,
    text=(
        "HEART_BEAT (34) needs SUB on every consumer group in its body, and SUB on "
        "every topic of a subscription. Producer groups need none."
    ),
    source=_PARSE,
    until=_LAST,
)
UNREGISTER = Clause(
    id="SEC-PERM-010",
    level=Level.MUST,
    text="UNREGISTER_CLIENT (35) needs SUB on the consumer group, if it has one.",
    source=_PARSE,
    until=_LAST,
)
CONSUMER_LIST = Clause(
    id="SEC-PERM-011",
    level=Level.MUST,
    text="GET_CONSUMER_LIST_BY_GROUP (38) needs SUB on the group.",
    source=_PARSE,
    until=_LAST,
)
UPDATE_OFFSET = Clause(
    id="SEC-PERM-012",
    level=Level.MUST,
    text="UPDATE_CONSUMER_OFFSET (15) needs SUB on the group and SUB on the topic.",
    source=_PARSE,
    until=_LAST,
)
RETRY_TOPIC_OLD = Clause(
    id="SEC-PERM-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, a send to the retry topic %RETRY%GROUP needs PUB on the group "
        "GROUP."
    ),
    source=_PARSE,
    until="4.9.3",
)
RETRY_TOPIC = Clause(
    id="SEC-PERM-014",
    level=Level.MUST,
    text=(
        "From 4.9.4 to 5.2, a send to a retry topic needs SUB on the producer group of "
        "the request, and no permission on the topic. From 5.3.0 to 5.3.2 it needs SUB "
        "on the group of the retry topic."
    ),
    source=_PARSE_4_9,
    since="4.9.4",
    until="5.2",
)
TRACE_TOPIC_IS_OPEN = Clause(
    id="SEC-PERM-015",
    level=Level.QUIRK,
    text="From 4.9.4 on, any account may send to RMQ_SYS_TRACE_TOPIC.",
    source="4.9.7 org.apache.rocketmq.acl.plain.PlainPermissionManager#validate",
    since="4.9.4",
    until=_LAST,
)
READS_WITHOUT_PERMISSION = Clause(
    id="SEC-PERM-016",
    level=Level.QUIRK,
    text=(
        "From 4.5 to 4.9, VIEW_MESSAGE_BY_ID (33) needs a valid signature only: an "
        "account without any permission reads every message whose offset it states."
    ),
    source=_PARSE,
    since="4.5",
    until="4.9",
)
