"""
A heartbeat names a client's groups to a broker, every 30 seconds.

A consumer group also has a subscription for each topic. The broker reports the data of
heartbeats to administrators as the connections of a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import Member, OpenBody

_HEARTBEAT = "org.apache.rocketmq.common.protocol.heartbeat"
_BODY = "org.apache.rocketmq.common.protocol.body"

ALL_MESSAGES = "*"
"""The expression of a subscription to every message of a topic (Java: SUB_ALL)."""
TAG = "TAG"
"""The expression type of tags, which every broker has (Java: ExpressionType)."""
TAG_SEPARATOR = "||"
JAVA_BLANKS = "".join(map(chr, range(ord(" ") + 1)))
"""Characters that Java's String#trim removes; Python's strip removes others."""

HEARTBEAT_BODY = Clause(
    id="GROUP-HEARTBEAT-001",
    level=Level.MUST,
    text="The body of HEART_BEAT is an object of clientID, consumerDataSet and"
    " producerDataSet.",
    source=f"4.6.0 {_HEARTBEAT}.HeartbeatData#clientID",
    issues=(
        "mxsm/rocketmq-rust#497",
        "mxsm/rocketmq-rust#411",
        "mxsm/rocketmq-rust#808",
        "mxsm/rocketmq-rust#1265",
    ),
)
HEARTBEAT_WORDS = Clause(
    id="GROUP-HEARTBEAT-002",
    level=Level.MUST,
    text="A heartbeat's enumerations are written by their Java names:"
    " CONSUME_ACTIVELY, CONSUME_PASSIVELY; BROADCASTING, CLUSTERING;"
    " CONSUME_FROM_LAST_OFFSET, CONSUME_FROM_FIRST_OFFSET, CONSUME_FROM_TIMESTAMP.",
    source=f"4.6.0 {_HEARTBEAT}.ConsumeType#CONSUME_PASSIVELY",
    issues=("apache/rocketmq-client-go#441",),
)
HEARTBEAT_ORDINALS = Clause(
    id="GROUP-HEARTBEAT-005",
    level=Level.QUIRK,
    text="An integer as an enumeration of a heartbeat is the ordinal of its Java name:"
    " messageModel 0 is BROADCASTING, consumeType 0 CONSUME_ACTIVELY, consumeFromWhere"
    " 4 CONSUME_FROM_FIRST_OFFSET.",
    source=f"4.6.0 {_HEARTBEAT}.ConsumerData#messageModel",
)
HEARTBEAT_NULLS = Clause(
    id="GROUP-HEARTBEAT-006",
    level=Level.QUIRK,
    text="An enumeration that a heartbeat lacks, or whose name is unknown, is absent in"
    " the response to GET_CONSUMER_CONNECTION_LIST (203).",
    source=f"4.6.0 {_HEARTBEAT}.ConsumerData#messageModel",
)
SUBSCRIPTION_CODES = Clause(
    id="GROUP-HEARTBEAT-003",
    level=Level.MUST,
    text="A subscription to tags has each tag in tagsSet and its hash in codeSet; one"
    " to all messages has both empty and subString *.",
    source="4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData",
)
SUBSCRIPTION_VERSION = Clause(
    id="GROUP-HEARTBEAT-004",
    level=Level.MUST,
    text="A subscription of a higher subVersion replaces one of a lower, and one of a"
    " lower is ignored.",
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo"
    "#updateSubscription",
)
CONNECTIONS_BODY = Clause(
    id="GROUP-CONNECTION-005",
    level=Level.MUST,
    text=(
        "The response to GET_CONSUMER_CONNECTION_LIST has connectionSet, "
        "consumeType, messageModel, consumeFromWhere and, by topic, "
        "subscriptionTable."
    ),
    source=f"4.6.0 {_BODY}.ConsumerConnection#subscriptionTable",
)


def tags_of(expression: str) -> tuple[str, ...]:
    """Return the tags of an expression such as ``A || B``, each once.

    4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData.
    """
    parts = (part.strip(JAVA_BLANKS) for part in expression.split(TAG_SEPARATOR))
    return tuple(dict.fromkeys(filter(None, parts)))


class SubscriptionData(OpenBody, frozen=True, kw_only=True):
    """Subscription of a group to a topic."""

    topic: Annotated[str, Member("topic", "the topic")]
    expression: Annotated[
        str, Member("subString", "tags with || between them, or *")
    ] = ALL_MESSAGES
    tags: Annotated[tuple[str, ...], Member("tagsSet", "each tag")] = ()
    codes: Annotated[tuple[int, ...], Member("codeSet", "each tag's hash")] = ()
    version: Annotated[int, Member("subVersion", "milliseconds; the higher counts")]
    expression_type: Annotated[str, Member("expressionType", "TAG or SQL92")] = TAG
    class_filter_mode: Annotated[
        bool, Member("classFilterMode", "whether a Java class filters")
    ] = False


class ConsumerData(OpenBody, frozen=True, kw_only=True):
    """A client's part in a consumer group."""

    group: Annotated[str, Member("groupName", "the group")]
    consume_type: Annotated[
        str,
        Member(
            "consumeType", "CONSUME_ACTIVELY: pulls; CONSUME_PASSIVELY: is pushed to"
        ),
    ]
    message_model: Annotated[str, Member("messageModel", "BROADCASTING or CLUSTERING")]
    consume_from: Annotated[
        str, Member("consumeFromWhere", "where a new group begins, as CONSUME_FROM_...")
    ]
    subscriptions: Annotated[
        tuple[SubscriptionData, ...], Member("subscriptionDataSet", "its topics")
    ] = ()
    unit_mode: Annotated[bool, Member("unitMode", "marks its retry topic")] = False


class ProducerData(OpenBody, frozen=True, kw_only=True):
    """A client's part in a producer group."""

    group: Annotated[str, Member("groupName", "the group")]


class HeartbeatData(OpenBody, frozen=True, kw_only=True):
    """The body of HEART_BEAT."""

    client_id: Annotated[str, Member("clientID", "the client's name: ADDRESS@INSTANCE")]
    consumers: Annotated[tuple[ConsumerData, ...], Member("consumerDataSet")] = ()
    producers: Annotated[tuple[ProducerData, ...], Member("producerDataSet")] = ()
    fingerprint: Annotated[
        int | None,
        Member(
            "heartbeatFingerprint",
            "hash of what follows, so that it need not be sent",
            since="5.1.3",
        ),
    ] = None
    without_subscriptions: Annotated[
        bool | None, Member("withoutSub", "whether it was left out", since="5.1.3")
    ] = None


class Connection(OpenBody, frozen=True, kw_only=True):
    """A client as the broker sees it."""

    client_id: Annotated[str, Member("clientId", "as its heartbeats say")]
    client_address: Annotated[str, Member("clientAddr", "where it connects from")]
    language: Annotated[str, Member("language", "as its headers say")]
    version: Annotated[int, Member("version", "as its headers say")]


class ConsumerConnection(OpenBody, frozen=True, kw_only=True):
    """The response to GET_CONSUMER_CONNECTION_LIST."""

    connections: Annotated[
        tuple[Connection, ...], Member("connectionSet", "the group's members")
    ] = ()
    consume_type: Annotated[str | None, Member("consumeType", "of all")] = None
    message_model: Annotated[str | None, Member("messageModel", "of all")] = None
    consume_from: Annotated[str | None, Member("consumeFromWhere")] = None
    subscriptions: Annotated[
        Mapping[str, SubscriptionData],
        Member("subscriptionTable", "by topic, the newest"),
    ] = {}


class ProducerConnection(OpenBody, frozen=True, kw_only=True):
    """The response to GET_PRODUCER_CONNECTION_LIST."""

    connections: Annotated[
        tuple[Connection, ...], Member("connectionSet", "the group's members")
    ] = ()


class GetConsumerListByGroupResponseBody(OpenBody, frozen=True, kw_only=True):
    """The response to GET_CONSUMER_LIST_BY_GROUP."""

    client_ids: Annotated[
        tuple[str, ...], Member("consumerIdList", "the group's members")
    ] = ()


class CheckClientRequestBody(OpenBody, frozen=True, kw_only=True):
    """The body of CHECK_CLIENT_CONFIG, a request to validate a filter."""

    client_id: Annotated[str, Member("clientId", "the asking client")]
    group: Annotated[str, Member("group", "its group")]
    subscription: Annotated[object, Member("subscriptionData", "a Subscription")] = None
