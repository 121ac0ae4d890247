"""
Bodies with a value for each of several queues: maps with objects as keys.

Consume statistics and topic statistics are responses to administrators. A reset of
offsets goes from an administrator to the broker and from it to the group's clients. It
has this form, or for C++ clients that of a list, which any JSON reader can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import Body, Member, OpenBody
from spec.wire.bodies.queue_name import QueueName

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


class OffsetWrapper(OpenBody, frozen=True, kw_only=True):
    """Offsets of a group in a queue."""

    broker_offset: Annotated[int, Member("brokerOffset", "the queue's end")] = 0
    consumer_offset: Annotated[int, Member("consumerOffset", "committed")] = 0
    last_stored_at_ms: Annotated[
        int, Member("lastTimestamp", "store time of the last consumed message")
    ] = 0
    pull_offset: Annotated[
        int | None, Member("pullOffset", "pulled last", since="5.1")
    ] = None


class ConsumeStats(OpenBody, frozen=True, kw_only=True):
    """The response to GET_CONSUME_STATS."""

    consume_tps: Annotated[float, Member("consumeTps", "per second")] = 0.0
    queues: Annotated[Mapping[QueueName, OffsetWrapper], Member("offsetTable")] = {}


class TopicOffset(OpenBody, frozen=True, kw_only=True):
    """Offsets of a queue."""

    min_offset: Annotated[int, Member("minOffset", "of the first message")] = 0
    max_offset: Annotated[int, Member("maxOffset", "after the last")] = 0
    updated_at_ms: Annotated[
        int, Member("lastUpdateTimestamp", "store time of the last message")
    ] = 0


class TopicStatsTable(OpenBody, frozen=True, kw_only=True):
    """The response to GET_TOPIC_STATS_INFO."""

    queues: Annotated[Mapping[QueueName, TopicOffset], Member("offsetTable")] = {}
    put_tps: Annotated[
        float | None, Member("topicPutTps", "messages a second", since="5.3.3")
    ] = None


class ResetOffsetBody(OpenBody, frozen=True, kw_only=True):
    """The body of RESET_CONSUMER_CLIENT_OFFSET."""

    offsets: Annotated[
        Mapping[QueueName, int], Member("offsetTable", "where to go on")
    ] = {}


class MessageQueueForC(Body, frozen=True, kw_only=True):
    """A queue and an offset in it."""

    broker_name: Annotated[str, Member("brokerName", "its broker")]
    offset: Annotated[int, Member("offset", "where to go on")]
    queue_id: Annotated[int, Member("queueId", "its number in the topic")]
    topic: Annotated[str, Member("topic", "its topic")]


class ResetOffsetBodyForC(OpenBody, frozen=True, kw_only=True):
    """The same for clients in C++."""

    offsets: Annotated[tuple[MessageQueueForC, ...], Member("offsetTable")] = ()


class GetConsumerStatusBody(OpenBody, frozen=True, kw_only=True):
    """A client's response to GET_CONSUMER_STATUS_FROM_CLIENT: one topic of a broker."""

    offsets: Annotated[
        Mapping[QueueName, int], Member("messageQueueTable", "committed")
    ] = {}
    consumers: Annotated[
        Mapping[str, Mapping[QueueName, int]],
        Member(
            "consumerTable", "the same by client, as the broker answers administrators"
        ),
    ] = {}
