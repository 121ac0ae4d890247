"""
Requests for offsets: the ends of queues, offsets by time, committed offsets.
"""

from __future__ import annotations

from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import Response
from spec.wire.remoting.response_code import ResponseCode


def max_offset(state: BrokerState, request: Request) -> Response:
    """Respond with the max offset of a queue: the offset of its next message."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    # [OFFSET-MAX-001] [OFFSET-MAX-002]
    return Response(fields={"offset": state.store.max_offset(topic, queue_id)})


def min_offset(state: BrokerState, request: Request) -> Response:
    """Respond with the min offset of a queue."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    # [OFFSET-MIN-001]
    return Response(fields={"offset": state.store.min_offset(topic, queue_id)})


def search_offset(state: BrokerState, request: Request) -> Response:
    """Respond with the offset of the message stored nearest to a time."""
    offset = state.store.offset_by_time(  # [OFFSET-SEARCH-007]
        request.text("topic"), request.int32("queueId"), request.int64("timestamp")
    )
    return Response(fields={"offset": offset})


def earliest_store_time(state: BrokerState, request: Request) -> Response:
    """Respond with the store time of a queue's first message."""
    topic, queue_id = request.text("topic"), request.int32("queueId")
    stored_at_ms = state.store.earliest_stored_at(topic, queue_id)  # [OFFSET-TIME-001]
    return Response(fields={"timestamp": stored_at_ms})


def query_consumer_offset(state: BrokerState, request: Request) -> Response:
    """Respond with the offset of a group in a queue.

    Without one it is 0 while the queue's first message is still in memory. Otherwise
    the client chooses its first offset.
    """
    group = request.text_or_null("consumerGroup")
    topic, queue_id = request.text_or_null("topic"), request.int32("queueId")
    offset = state.offsets.query(group, topic, queue_id)
    if offset >= 0:
        return Response(fields={"offset": offset})
    request.text("topic")  # without it 4.6.0 finds an offset, but no queue
    queue = state.store.queues.table.get((topic, queue_id))
    first = queue.unit(0) if queue else None
    lag = 0 if first is None else state.store.log.files.end - first[0]
    is_young = state.store.min_offset(topic, queue_id) <= 0
    # [OFFSET-QUERY-001] [OFFSET-QUERY-002]
    if is_young and lag <= state.store.options.memory_size:
        return Response(fields={"offset": 0})
    raise Refused(  # [OFFSET-QUERY-004] [OFFSET-QUERY-005]
        ResponseCode.QUERY_NOT_FOUND,
        "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
    )


def update_consumer_offset(state: BrokerState, request: Request) -> Response:
    """Store the offset of a group in a queue."""
    # [OFFSET-COMMIT-001] [OFFSET-COMMIT-003] [OFFSET-COMMIT-004] [OFFSET-COMMIT-005]
    state.offsets.commit(
        request.text_or_null("consumerGroup"),
        request.text_or_null("topic"),
        request.int32("queueId"),
        request.int64("commitOffset"),
    )
    return Response()
