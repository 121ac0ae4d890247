"""
Bodies of responses to administrators, beyond lists of names.

Groups and producers, rates, units of a consume queue, consume times of a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.bodies.offset_tables import ConsumeStats
from spec.wire.bodies.queue_name import QueueName


class GroupList(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_TOPIC_CONSUME_BY_WHO."""

    groups: Annotated[tuple[str, ...], Member("groupList")] = ()


class ConsumeQueueData(OpenBody, frozen=True, kw_only=True):
    """A consume queue's unit as administrators see it."""

    commit_log_offset: Annotated[int, Member("physicOffset")] = 0
    size: Annotated[int, Member("physicSize", "bytes of the record")] = 0
    tags_code: Annotated[int, Member("tagsCode", "also an address")] = 0
    extension: Annotated[
        str | None, Member("extendDataJson", "JSON of the extension unit")
    ] = None
    bits: Annotated[str | None, Member("bitMap", "of the extension unit")] = None
    is_matching: Annotated[bool, Member("eval", "whether the group wants it")] = False
    remark: Annotated[str | None, Member("msg", "why that is not known")] = None


class QueryConsumeQueueResponseBody(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_CONSUME_QUEUE."""

    subscription: Annotated[
        SubscriptionData | None, Member("subscriptionData", "the group's")
    ] = None
    filter: Annotated[str | None, Member("filterData", "its SQL filter")] = None
    messages: Annotated[tuple[ConsumeQueueData, ...] | None, Member("queueData")] = None
    max_offset: Annotated[int, Member("maxQueueIndex", "the queue's end")] = 0
    min_offset: Annotated[int, Member("minQueueIndex", "its beginning")] = 0


class QueueTimeSpan(OpenBody, frozen=True, kw_only=True):
    """Store times of a queue's messages, and of the consumed ones."""

    queue: Annotated[QueueName, Member("messageQueue", "the queue")]
    first_stored_at_ms: Annotated[int, Member("minTimeStamp")] = 0
    last_stored_at_ms: Annotated[int, Member("maxTimeStamp")] = 0
    consumed_at_ms: Annotated[
        int, Member("consumeTimeStamp", "store time of the last consumed")
    ] = 0
    delay_ms: Annotated[int, Member("delayTime", "how far behind it is")] = 0
    first_stored_at: Annotated[str, Member("minTimeStampStr")] = ""
    last_stored_at: Annotated[str, Member("maxTimeStampStr")] = ""
    consumed_at: Annotated[str, Member("consumeTimeStampStr")] = ""


class QueryConsumeTimeSpanBody(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_CONSUME_TIME_SPAN."""

    queues: Annotated[tuple[QueueTimeSpan, ...], Member("consumeTimeSpanSet")] = ()


class BrokerStatsItem(OpenBody, frozen=True, kw_only=True):
    """A sum and rates of one span."""

    sum: Annotated[int, Member("sum", "in the span")] = 0
    tps: Annotated[float, Member("tps", "a second")] = 0.0
    mean: Annotated[float, Member("avgpt", "of each time")] = 0.0


class BrokerStatsData(OpenBody, frozen=True, kw_only=True):
    """The response to VIEW_BROKER_STATS_DATA."""

    minute: Annotated[BrokerStatsItem | None, Member("statsMinute")] = None
    hour: Annotated[BrokerStatsItem | None, Member("statsHour")] = None
    day: Annotated[BrokerStatsItem | None, Member("statsDay")] = None


class QueryCorrectionOffsetBody(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_CORRECTION_OFFSET."""

    offsets: Annotated[
        Mapping[int, int], Member("correctionOffsets", "by queue id")
    ] = {}


class ConsumeStatsList(OpenBody, frozen=True, kw_only=True):
    """The response to GET_BROKER_CONSUME_STATS."""

    groups: Annotated[
        tuple[Mapping[str, tuple[ConsumeStats, ...]], ...],
        Member("consumeStatsList", "a map of one group each"),
    ] = ()
    broker_address: Annotated[str | None, Member("brokerAddr")] = None
    behind: Annotated[int, Member("totalDiff", "messages not consumed")] = 0
    in_flight: Annotated[
        int | None, Member("totalInflightDiff", "pulled, not consumed", since="5.1")
    ] = None


class ProducerInfo(OpenBody, frozen=True, kw_only=True):
    """A producing client."""

    client_id: Annotated[str, Member("clientId")]
    address: Annotated[str, Member("remoteIP")]
    language: Annotated[str, Member("language")]
    version: Annotated[int, Member("version")]
    last_heartbeat_ms: Annotated[int, Member("lastUpdateTimestamp", "last heartbeat")]


class ProducerTableInfo(OpenBody, frozen=True, kw_only=True):
    """The response to GET_ALL_PRODUCER_INFO."""

    groups: Annotated[
        Mapping[str, tuple[ProducerInfo, ...]], Member("data", "by group")
    ] = {}


class BrokerMemberGroup(OpenBody, frozen=True, kw_only=True):
    """The response to GET_BROKER_MEMBER_GROUP: a master and its slaves."""

    cluster: Annotated[str | None, Member("cluster")] = None
    broker_name: Annotated[str | None, Member("brokerName")] = None
    addresses: Annotated[Mapping[int, str], Member("brokerAddrs", "by broker id")] = {}


class QuerySubscriptionResponseBody(OpenBody, frozen=True, kw_only=True):
    """The response to QUERY_SUBSCRIPTION_BY_CONSUMER."""

    subscription: Annotated[SubscriptionData | None, Member("subscriptionData")] = None
    group: Annotated[str | None, Member("group")] = None
    topic: Annotated[str | None, Member("topic")] = None
