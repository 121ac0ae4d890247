"""Requests of a client about the offsets of a queue."""

from __future__ import annotations

from reference.core.client.message import MessageQueue
from reference.core.remoting.response import create_request
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


def query_consumer_offset(group: str, queue: MessageQueue) -> Command:
    """Build QUERY_CONSUMER_OFFSET: the committed offset of *group*."""
    fields = {"consumerGroup": group, **_queue_fields(queue)}
    return create_request(RequestCode.QUERY_CONSUMER_OFFSET, fields)


def get_min_offset(queue: MessageQueue) -> Command:
    """Build GET_MIN_OFFSET: the offset of the first message of *queue*."""
    return create_request(RequestCode.GET_MIN_OFFSET, _queue_fields(queue))


def get_max_offset(queue: MessageQueue) -> Command:
    """Build GET_MAX_OFFSET: the offset after the last message of *queue*."""
    return create_request(RequestCode.GET_MAX_OFFSET, _queue_fields(queue))


def search_offset(queue: MessageQueue, time_ms: int) -> Command:
    """Build SEARCH_OFFSET_BY_TIMESTAMP for the store time *time_ms*."""
    fields = {**_queue_fields(queue), "timestamp": time_ms}
    return create_request(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields)


def update_consumer_offset(
    group: str, queue: MessageQueue, offset: int, *, oneway: bool
) -> Command:
    """Build UPDATE_CONSUMER_OFFSET: *group* has consumed everything below *offset*."""
    fields = {"consumerGroup": group, **_queue_fields(queue), "commitOffset": offset}
    return create_request(RequestCode.UPDATE_CONSUMER_OFFSET, fields, oneway=oneway)


def _queue_fields(queue: MessageQueue) -> dict[str, object]:
    return {"topic": queue.topic, "queueId": queue.queue_id}
