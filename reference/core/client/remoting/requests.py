"""Requests of a client for routes, consumer ids, offsets and sending back."""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.client.message import MessageQueue
from reference.core.remoting.response import LANGUAGE, RELEASE_ORDINAL
from spec.client.subscribing import RETRIES_MAX
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode


def client_request(
    code: int,
    fields: Mapping[str, object] | None = None,
    body: bytes = b"",
    *,
    oneway: bool = False,
    remark: str | None = None,
) -> Command:
    """Build a request; fields that are None are left out."""
    given = (fields or {}).items()
    return Command(
        code=code,
        flag=CommandFlag.ONE_WAY if oneway else 0,
        language=LANGUAGE,
        version=RELEASE_ORDINAL,
        remark=remark,
        fields={name: str(value) for name, value in given if value is not None},
        body=body,
    )


def get_route(topic: str) -> Command:
    """Build GET_ROUTEINFO_BY_TOPIC."""
    return client_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})


def get_consumer_list(group: str) -> Command:
    """Build GET_CONSUMER_LIST_BY_GROUP: the client ids of a consumer group."""
    fields = {"consumerGroup": group}
    return client_request(RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields)


def query_consumer_offset(group: str, queue: MessageQueue) -> Command:
    """Build QUERY_CONSUMER_OFFSET: the committed offset of *group*."""
    fields = {"consumerGroup": group, **_queue_fields(queue)}
    return client_request(RequestCode.QUERY_CONSUMER_OFFSET, fields)


def get_min_offset(queue: MessageQueue) -> Command:
    """Build GET_MIN_OFFSET: the offset of the first message of *queue*."""
    return client_request(RequestCode.GET_MIN_OFFSET, _queue_fields(queue))


def get_max_offset(queue: MessageQueue) -> Command:
    """Build GET_MAX_OFFSET: the offset after the last message of *queue*."""
    return client_request(RequestCode.GET_MAX_OFFSET, _queue_fields(queue))


def search_offset(queue: MessageQueue, time_ms: int) -> Command:
    """Build SEARCH_OFFSET_BY_TIMESTAMP for the store time *time_ms*."""
    fields = {**_queue_fields(queue), "timestamp": time_ms}
    return client_request(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields)


def update_consumer_offset(
    group: str, queue: MessageQueue, offset: int, *, oneway: bool
) -> Command:
    """Build UPDATE_CONSUMER_OFFSET: *group* has consumed everything below *offset*."""
    fields = {"consumerGroup": group, **_queue_fields(queue), "commitOffset": offset}
    return client_request(RequestCode.UPDATE_CONSUMER_OFFSET, fields, oneway=oneway)


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
    return client_request(RequestCode.CONSUMER_SEND_MSG_BACK, fields)


def _queue_fields(queue: MessageQueue) -> dict[str, object]:
    return {"topic": queue.topic, "queueId": queue.queue_id}
