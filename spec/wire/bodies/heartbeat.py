"""
A heartbeat names a client's groups to a broker, every 30 seconds.

A consumer group also has a subscription for each topic. The broker reports the data of
heartbeats to administrators as the connections of a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import (
    ANYTHING,
    INTEGER,
    TEXT,
    TRUTH,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)

_HEARTBEAT = "org.apache.rocketmq.common.protocol.heartbeat"
_BODY = "org.apache.rocketmq.common.protocol.body"

ALL_MESSAGES = "*"
"""The expression of a subscription to every message of a topic (Java: SUB_ALL)."""
TAG = "TAG"
"""The expression type of tags, which every broker has (Java: ExpressionType)."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionData:
    """Subscription of a group to a topic."""

    topic: str = member("topic", TEXT, "the topic")
    expression: str = member(
        "subString", TEXT, "tags with || between them, or *", default=ALL_MESSAGES
    )
    tags: tuple[str, ...] = member("tagsSet", list_of(TEXT), "each tag", default=())
    codes: tuple[int, ...] = member(
        "codeSet", list_of(INTEGER), "each tag's hash", default=()
    )
    version: int = member("subVersion", INTEGER, "milliseconds; the higher counts")
    expression_type: str = member("expressionType", TEXT, "TAG or SQL92", default=TAG)
    class_filter_mode: bool = member(
        "classFilterMode", TRUTH, "whether a Java class filters", default=False
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerData:
    """A client's part in a consumer group."""

    group: str = member("groupName", TEXT, "the group")
    consume_type: str = member(
        "consumeType", TEXT, "CONSUME_ACTIVELY: pulls; CONSUME_PASSIVELY: is pushed to"
    )
    message_model: str = member("messageModel", TEXT, "BROADCASTING or CLUSTERING")
    consume_from: str = member(
        "consumeFromWhere", TEXT, "where a new group begins, as CONSUME_FROM_..."
    )
    subscriptions: tuple[SubscriptionData, ...] = member(
        "subscriptionDataSet",
        list_of(object_of(SubscriptionData)),
        "its topics",
        default=(),
    )
    unit_mode: bool = member("unitMode", TRUTH, "marks its retry topic", default=False)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerData:
    """A client's part in a producer group."""

    group: str = member("groupName", TEXT, "the group")
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatData:
    """The body of HEART_BEAT."""

    client_id: str = member("clientID", TEXT, "the client's name: ADDRESS@INSTANCE")
    consumers: tuple[ConsumerData, ...] = member(
        "consumerDataSet", list_of(object_of(ConsumerData)), "", default=()
    )
    producers: tuple[ProducerData, ...] = member(
        "producerDataSet", list_of(object_of(ProducerData)), "", default=()
    )
    fingerprint: int | None = member(
        "heartbeatFingerprint",
        INTEGER,
        "hash of what follows, so that it need not be sent",
        default=None,
        since="5.1.3",
    )
    without_subscriptions: bool | None = member(
        "withoutSub", TRUTH, "whether it was left out", default=None, since="5.1.3"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A client as the broker sees it."""

    client_id: str = member("clientId", TEXT, "as its heartbeats say")
    client_address: str = member("clientAddr", TEXT, "where it connects from")
    language: str = member("language", TEXT, "as its headers say")
    version: int = member("version", INTEGER, "as its headers say")
    rest: Mapping[str, object] = rest_of_members()


CONNECTIONS = list_of(object_of(Connection))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConnection:
    """The response to GET_CONSUMER_CONNECTION_LIST."""

    connections: tuple[Connection, ...] = member(
        "connectionSet", CONNECTIONS, "the group's members", default=()
    )
    consume_type: str | None = member("consumeType", TEXT, "of all", default=None)
    message_model: str | None = member("messageModel", TEXT, "of all", default=None)
    consume_from: str | None = member("consumeFromWhere", TEXT, "", default=None)
    subscriptions: Mapping[str, SubscriptionData] = member(
        "subscriptionTable",
        map_of(TEXT, object_of(SubscriptionData)),
        "by topic, the newest",
        default=dict,
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConnection:
    """The response to GET_PRODUCER_CONNECTION_LIST."""

    connections: tuple[Connection, ...] = member(
        "connectionSet", CONNECTIONS, "the group's members", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupResponseBody:
    """The response to GET_CONSUMER_LIST_BY_GROUP."""

    client_ids: tuple[str, ...] = member(
        "consumerIdList", list_of(TEXT), "the group's members", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClientRequestBody:
    """The body of CHECK_CLIENT_CONFIG, a request to validate a filter."""

    client_id: str = member("clientId", TEXT, "the asking client")
    group: str = member("group", TEXT, "its group")
    subscription: object = member(
        "subscriptionData", ANYTHING, "a Subscription", default=None
    )
    rest: Mapping[str, object] = rest_of_members()
