"""Requests of a client for routes, consumer ids, offsets and sending back."""

from __future__ import annotations

from reference.core.client.message import MessageQueue
from reference.core.remoting.response import create_request
from spec.client.subscription import RETRIES_MAX
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


def get_route(topic: str) -> Command:
    """Build GET_ROUTEINFO_BY_TOPIC."""
    return create_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})


def get_consumer_list(group: str) -> Command:
    """Build GET_CONSUMER_LIST_BY_GROUP: the client ids of a consumer group."""
    fields = {"consumerGroup": group}
    return create_request(RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields)


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


def send_message_back(
    group: str,
    *,
    topic: str,
    commit_log_offset: int,
    message_id: str,
    retries_max: int = RETRIES_MAX,
) -> Command:
    """Build CONSUMER_SEND_MSG_BACK: deliver a stored message to *group* again."""
    fields = {  # [CLIENT-SENDBACK-001]
        "group": group,
        "originTopic": topic,
        "offset": commit_log_offset,
        "delayLevel": 0,
        "originMsgId": message_id,
        "unitMode": "false",
        "maxReconsumeTimes": retries_max,
    }
    return create_request(RequestCode.CONSUMER_SEND_MSG_BACK, fields)


def _queue_fields(queue: MessageQueue) -> dict[str, object]:
    return {"topic": queue.topic, "queueId": queue.queue_id}
