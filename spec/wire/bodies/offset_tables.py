"""
Bodies with a value for each of several queues: maps with objects as keys.

Consume statistics and topic statistics are responses to administrators. A reset of
offsets goes from an administrator to the broker and from it to the group's clients. It
has this form, or for C++ clients that of a list, which any JSON reader can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import (
    DECIMAL,
    INTEGER,
    TEXT,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)
from spec.wire.bodies.queue_name import QUEUE_NAME, QueueName

_BODY = "4.6.0 org.apache.rocketmq.common.protocol.body"

RESET_BODY = Clause(
    id="OFFSET-RESET-004",
    level=Level.MUST,
    text=(
        "RESET_CONSUMER_CLIENT_OFFSET (220) carries offsetTable, a map from queues, "
        "which are objects, to offsets."
    ),
    source=f"{_BODY}.ResetOffsetBody#offsetTable",
    issues=("apache/rocketmq-client-go#759",),
)
RESET_BODY_FOR_CPP = Clause(
    id="OFFSET-RESET-005",
    level=Level.MUST,
    text=(
        "RESET_CONSUMER_CLIENT_OFFSET (220) to a client whose language is CPP "
        "carries a list of queues with their offsets."
    ),
    source=f"{_BODY}.ResetOffsetBodyForC#offsetTable",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetWrapper:
    """How far a group is in a queue."""

    broker_offset: int = member("brokerOffset", INTEGER, "the queue's end", default=0)
    consumer_offset: int = member("consumerOffset", INTEGER, "committed", default=0)
    last_stored_at_ms: int = member(
        "lastTimestamp", INTEGER, "store time of the last consumed message", default=0
    )
    pull_offset: int | None = member(
        "pullOffset", INTEGER, "pulled last", default=None, since="5.1"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStats:
    """The response to GET_CONSUME_STATS."""

    consume_tps: float = member("consumeTps", DECIMAL, "per second", default=0.0)
    queues: Mapping[QueueName, OffsetWrapper] = member(
        "offsetTable", map_of(QUEUE_NAME, object_of(OffsetWrapper)), "", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOffset:
    """Offsets of a queue."""

    min_offset: int = member("minOffset", INTEGER, "of the first message", default=0)
    max_offset: int = member("maxOffset", INTEGER, "after the last", default=0)
    updated_at_ms: int = member(
        "lastUpdateTimestamp", INTEGER, "store time of the last message", default=0
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStatsTable:
    """The response to GET_TOPIC_STATS_INFO."""

    queues: Mapping[QueueName, TopicOffset] = member(
        "offsetTable", map_of(QUEUE_NAME, object_of(TopicOffset)), "", default=dict
    )
    put_tps: float | None = member(
        "topicPutTps", DECIMAL, "messages a second", default=None, since="5.3.3"
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetBody:
    """The body of RESET_CONSUMER_CLIENT_OFFSET."""

    offsets: Mapping[QueueName, int] = member(
        "offsetTable", map_of(QUEUE_NAME, INTEGER), "where to go on", default=dict
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueForC:
    """A queue and an offset in it."""

    broker_name: str = member("brokerName", TEXT, "its broker")
    offset: int = member("offset", INTEGER, "where to go on")
    queue_id: int = member("queueId", INTEGER, "its number in the topic")
    topic: str = member("topic", TEXT, "its topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetBodyForC:
    """The same for clients in C++."""

    offsets: tuple[MessageQueueForC, ...] = member(
        "offsetTable", list_of(object_of(MessageQueueForC)), "", default=()
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusBody:
    """A client's response to GET_CONSUMER_STATUS_FROM_CLIENT: one topic of a broker."""

    offsets: Mapping[QueueName, int] = member(
        "messageQueueTable", map_of(QUEUE_NAME, INTEGER), "committed", default=dict
    )
    consumers: Mapping[str, Mapping[QueueName, int]] = member(
        "consumerTable",
        map_of(TEXT, map_of(QUEUE_NAME, INTEGER)),
        "the same by client, as the broker answers administrators",
        default=dict,
    )
    rest: Mapping[str, object] = rest_of_members()
