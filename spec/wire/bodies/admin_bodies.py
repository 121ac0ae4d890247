"""
Bodies of responses to administrators, beyond lists of names.

Groups and producers, rates, units of a consume queue, consume times of a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.heartbeat import Subscription
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
class GroupNames:
    """The answer to QUERY_TOPIC_CONSUME_BY_WHO (Java: GroupList)."""

    groups: tuple[str, ...] = member("groupList", list_of(TEXT), "", default=())
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """A consume queue's unit as administrators see it (Java: ConsumeQueueData)."""

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
class QueuedMessages:
    """The answer to QUERY_CONSUME_QUEUE."""

    subscription: Subscription | None = member(  # noqa: RUF009 # a field
        "subscriptionData", object_of(Subscription), "the group's", default=None
    )
    filter: str | None = member("filterData", TEXT, "its SQL filter", default=None)
    messages: tuple[QueuedMessage, ...] | None = member(
        "queueData", list_of(object_of(QueuedMessage)), "", default=None
    )
    max_offset: int = member("maxQueueIndex", INTEGER, "the queue's end", default=0)
    min_offset: int = member("minQueueIndex", INTEGER, "its beginning", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTimes:
    """When a queue's messages were stored and consumed (Java: QueueTimeSpan)."""

    queue: QueueName = member("messageQueue", QUEUE_NAME, "the queue")  # noqa: RUF009
    first_stored_at_ms: int = member("minTimeStamp", INTEGER, "", default=0)
    last_stored_at_ms: int = member("maxTimeStamp", INTEGER, "", default=0)
    consumed_at_ms: int = member(
        "consumeTimeStamp", INTEGER, "store time of the last consumed", default=0
    )
    delay_ms: int = member("delayTime", INTEGER, "how far behind it is", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeTimes:
    """The answer to QUERY_CONSUME_TIME_SPAN."""

    queues: tuple[QueueTimes, ...] = member(
        "consumeTimeSpanSet", list_of(object_of(QueueTimes)), "", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A sum and rates of one span (Java: BrokerStatsItem)."""

    sum: int = member("sum", INTEGER, "in the span", default=0)
    tps: float = member("tps", DECIMAL, "a second", default=0.0)
    mean: float = member("avgpt", DECIMAL, "of each time", default=0.0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The answer to VIEW_BROKER_STATS_DATA (Java: BrokerStatsData)."""

    minute: Rate | None = member(  # noqa: RUF009 # a field
        "statsMinute", object_of(Rate), "", default=None
    )
    hour: Rate | None = member(  # noqa: RUF009 # a field
        "statsHour", object_of(Rate), "", default=None
    )
    day: Rate | None = member(  # noqa: RUF009 # a field
        "statsDay", object_of(Rate), "", default=None
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedOffsets:
    """The answer to QUERY_CORRECTION_OFFSET."""

    offsets: Mapping[int, int] = member(
        "correctionOffsets", map_of(INTEGER, INTEGER), "by queue id", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsStats:
    """The answer to GET_BROKER_CONSUME_STATS (Java: ConsumeStatsList)."""

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
class Producer:
    """A producing client (Java: ProducerInfo)."""

    client_id: str = member("clientId", TEXT, "")
    address: str = member("remoteIP", TEXT, "")
    language: str = member("language", TEXT, "")
    version: int = member("version", INTEGER, "")
    last_heartbeat_ms: int = member("lastUpdateTimestamp", INTEGER, "last heartbeat")
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class Producers:
    """The answer to GET_ALL_PRODUCER_INFO (Java: ProducerTableInfo)."""

    groups: Mapping[str, tuple[Producer, ...]] = member(
        "data", map_of(TEXT, list_of(object_of(Producer))), "by group", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerGroup:
    """The answer to GET_BROKER_MEMBER_GROUP: a master and its slaves."""

    cluster: str | None = member("cluster", TEXT, "", default=None)
    broker_name: str | None = member("brokerName", TEXT, "", default=None)
    addresses: Mapping[int, str] = member(
        "brokerAddrs", map_of(INTEGER, TEXT), "by broker id", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionOfGroup:
    """The answer to QUERY_SUBSCRIPTION_BY_CONSUMER."""

    subscription: Subscription | None = member(  # noqa: RUF009 # a field
        "subscriptionData", object_of(Subscription), "", default=None
    )
    group: str | None = member("group", TEXT, "", default=None)
    topic: str | None = member("topic", TEXT, "", default=None)
    rest: Mapping[str, object] = rest_of_members()
