"""
Questions about a queue: where it begins and ends, what time is where, who is how far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


def max_offset(broker: Broker, request: Request) -> Answer:
    """Answer where a queue ends: the offset that its next message gets."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    # [OFFSET-MAX-001] [OFFSET-MAX-002]
    return Answer(fields={"offset": broker.store.max_offset(topic, queue_id)})


def min_offset(broker: Broker, request: Request) -> Answer:
    """Answer where a queue begins."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    # [OFFSET-MIN-001]
    return Answer(fields={"offset": broker.store.min_offset(topic, queue_id)})


def search_offset(broker: Broker, request: Request) -> Answer:
    """Answer the offset in a queue that is nearest to a time."""
    offset = broker.store.offset_by_time(  # [OFFSET-SEARCH-007]
        request.text("topic"), request.int32("queueId"), request.int64("timestamp")
    )
    return Answer(fields={"offset": offset})


def earliest_store_time(broker: Broker, request: Request) -> Answer:
    """Answer when a queue's first message was stored."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    stored_at_ms = broker.store.earliest_stored_at(topic, queue_id)  # [OFFSET-TIME-001]
    return Answer(fields={"timestamp": stored_at_ms})


def query_consumer_offset(broker: Broker, request: Request) -> Answer:
    """Answer how far a group is in a queue.

    A group that never said starts at 0 while the queue's first message is still in
    memory; otherwise the client decides where it starts.
    """
    group = request.text_or_null("consumerGroup")
    topic, queue_id = request.text_or_null("topic"), request.int32("queueId")
    offset = broker.offsets.query(group, topic, queue_id)
    if offset >= 0:
        return Answer(fields={"offset": offset})
    is_young = broker.store.min_offset(topic, queue_id) <= 0
    # [OFFSET-QUERY-001] [OFFSET-QUERY-002]
    if is_young and not _has_left_memory(broker, topic, queue_id):
        return Answer(fields={"offset": 0})
    return refusal(
        ResponseCode.QUERY_NOT_FOUND,
        "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
    )


def update_consumer_offset(broker: Broker, request: Request) -> Answer:
    """Note how far a group is in a queue."""
    # [OFFSET-COMMIT-001] [OFFSET-COMMIT-003] [OFFSET-COMMIT-004] [OFFSET-COMMIT-005]
    broker.offsets.commit(
        request.text_or_null("consumerGroup"),
        request.text_or_null("topic"),
        request.int32("queueId"),
        request.int64("commitOffset"),
    )
    return Answer()


def query_consume_queue(broker: Broker, request: Request) -> Answer:
    """Say that a queue exists; 4.6.0 writes the body before it has filled it in."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    if broker.store.queues.get(topic, queue_id) is None:
        return refusal(SYSTEM_ERROR, f"{queue_id}@{topic} is not exist!")
    body = {"maxQueueIndex": 0, "minQueueIndex": 0}  # [QUERY-QUEUE-001]
    return Answer(body=fastjson.dumps(body))


def _has_left_memory(broker: Broker, topic: str, queue_id: int) -> bool:
    """Return whether a queue's first message is too far back to be in memory."""
    queue = broker.store.queues.get(topic, queue_id)
    unit = queue.unit(0) if queue else None
    if unit is None:
        return False
    return broker.store.log.queue.end - unit[0] > broker.store.options.memory_size
