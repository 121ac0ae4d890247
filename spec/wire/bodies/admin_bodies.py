"""
Bodies of responses to administrators, beyond lists of names.

Groups and producers, rates, units of a consume queue, consume times of a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.json_body import (
    DECIMAL,
    INTEGER,
    TEXT,
    TRUTH,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)
from spec.wire.bodies.offset_tables import ConsumeStats
from spec.wire.bodies.queue_name import QUEUE_NAME, QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupList:
    """The response to QUERY_TOPIC_CONSUME_BY_WHO."""

    groups: tuple[str, ...] = member("groupList", list_of(TEXT), "", default=())
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeQueueData:
    """A consume queue's unit as administrators see it."""

    commit_log_offset: int = member("physicOffset", INTEGER, "", default=0)
    size: int = member("physicSize", INTEGER, "bytes of the record", default=0)
    tags_code: int = member("tagsCode", INTEGER, "also an address", default=0)
    extension: str | None = member(
        "extendDataJson", TEXT, "JSON of the extension unit", default=None
    )
    bits: str | None = member("bitMap", TEXT, "of the extension unit", default=None)
    is_matching: bool = member(
        "eval", TRUTH, "whether the group wants it", default=False
    )
    remark: str | None = member("msg", TEXT, "why that is not known", default=None)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueResponseBody:
    """The response to QUERY_CONSUME_QUEUE."""

    subscription: SubscriptionData | None = member(  # noqa: RUF009 # a field
        "subscriptionData", object_of(SubscriptionData), "the group's", default=None
    )
    filter: str | None = member("filterData", TEXT, "its SQL filter", default=None)
    messages: tuple[ConsumeQueueData, ...] | None = member(
        "queueData", list_of(object_of(ConsumeQueueData)), "", default=None
    )
    max_offset: int = member("maxQueueIndex", INTEGER, "the queue's end", default=0)
    min_offset: int = member("minQueueIndex", INTEGER, "its beginning", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTimeSpan:
    """When a queue's messages were stored and consumed."""

    queue: QueueName = member("messageQueue", QUEUE_NAME, "the queue")  # noqa: RUF009
    first_stored_at_ms: int = member("minTimeStamp", INTEGER, "", default=0)
    last_stored_at_ms: int = member("maxTimeStamp", INTEGER, "", default=0)
    consumed_at_ms: int = member(
        "consumeTimeStamp", INTEGER, "store time of the last consumed", default=0
    )
    delay_ms: int = member("delayTime", INTEGER, "how far behind it is", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanBody:
    """The response to QUERY_CONSUME_TIME_SPAN."""

    queues: tuple[QueueTimeSpan, ...] = member(
        "consumeTimeSpanSet", list_of(object_of(QueueTimeSpan)), "", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsItem:
    """A sum and rates of one span."""

    sum: int = member("sum", INTEGER, "in the span", default=0)
    tps: float = member("tps", DECIMAL, "a second", default=0.0)
    mean: float = member("avgpt", DECIMAL, "of each time", default=0.0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsData:
    """The response to VIEW_BROKER_STATS_DATA."""

    minute: BrokerStatsItem | None = member(  # noqa: RUF009 # a field
        "statsMinute", object_of(BrokerStatsItem), "", default=None
    )
    hour: BrokerStatsItem | None = member(  # noqa: RUF009 # a field
        "statsHour", object_of(BrokerStatsItem), "", default=None
    )
    day: BrokerStatsItem | None = member(  # noqa: RUF009 # a field
        "statsDay", object_of(BrokerStatsItem), "", default=None
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetBody:
    """The response to QUERY_CORRECTION_OFFSET."""

    offsets: Mapping[int, int] = member(
        "correctionOffsets", map_of(INTEGER, INTEGER), "by queue id", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatsList:
    """The response to GET_BROKER_CONSUME_STATS."""

    groups: tuple[Mapping[str, tuple[ConsumeStats, ...]], ...] = member(
        "consumeStatsList",
        list_of(map_of(TEXT, list_of(object_of(ConsumeStats)))),
        "a map of one group each",
        default=(),
    )
    broker_address: str | None = member("brokerAddr", TEXT, "", default=None)
    behind: int = member("totalDiff", INTEGER, "messages not consumed", default=0)
    in_flight: int | None = member(
        "totalInflightDiff", INTEGER, "pulled, not consumed", default=None, since="5.1"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerInfo:
    """A producing client."""

    client_id: str = member("clientId", TEXT, "")
    address: str = member("remoteIP", TEXT, "")
    language: str = member("language", TEXT, "")
    version: int = member("version", INTEGER, "")
    last_heartbeat_ms: int = member("lastUpdateTimestamp", INTEGER, "last heartbeat")
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerTableInfo:
    """The response to GET_ALL_PRODUCER_INFO."""

    groups: Mapping[str, tuple[ProducerInfo, ...]] = member(
        "data", map_of(TEXT, list_of(object_of(ProducerInfo))), "by group", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerMemberGroup:
    """The response to GET_BROKER_MEMBER_GROUP: a master and its slaves."""

    cluster: str | None = member("cluster", TEXT, "", default=None)
    broker_name: str | None = member("brokerName", TEXT, "", default=None)
    addresses: Mapping[int, str] = member(
        "brokerAddrs", map_of(INTEGER, TEXT), "by broker id", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionResponseBody:
    """The response to QUERY_SUBSCRIPTION_BY_CONSUMER."""

    subscription: SubscriptionData | None = member(  # noqa: RUF009 # a field
        "subscriptionData", object_of(SubscriptionData), "", default=None
    )
    group: str | None = member("group", TEXT, "", default=None)
    topic: str | None = member("topic", TEXT, "", default=None)
    rest: Mapping[str, object] = rest_of_members()
