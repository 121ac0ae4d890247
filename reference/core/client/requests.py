"""
The small requests of a client: routes, members, offsets, messages handed back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reference.core.answer import LANGUAGE, RELEASE_ORDINAL
from reference.core.client.message import Queue
from spec.client.subscribing import RETRIES_MAX
from spec.wire.command import Command, CommandFlag
from spec.wire.request_code import RequestCode


def command(
    code: int, fields: Mapping[str, object] | None = None, body: bytes = b""
) -> Command:
    """Return a client's request; fields that are None are left out."""
    given = (fields or {}).items()
    return Command(
        code=code,
        language=LANGUAGE,
        version=RELEASE_ORDINAL,
        fields={name: str(value) for name, value in given if value is not None},
        body=body,
    )


def notice(
    code: int, fields: Mapping[str, object] | None = None, body: bytes = b""
) -> Command:
    """Return a request that wants no answer."""
    return replace(command(code, fields, body), flag=CommandFlag.ONE_WAY)


def route_question(topic: str) -> Command:
    """Return the request for the route of *topic*."""
    return command(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})


def members_question(group: str) -> Command:
    """Return the request for the ids of all members of *group*."""
    return command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})


def offset_question(group: str, queue: Queue) -> Command:
    """Return the request for the offset that *group* committed of *queue*."""
    fields = {"consumerGroup": group, **_named(queue)}
    return command(RequestCode.QUERY_CONSUMER_OFFSET, fields)


def begin_question(queue: Queue) -> Command:
    """Return the request for the offset of the first message of *queue*."""
    return command(RequestCode.GET_MIN_OFFSET, _named(queue))


def end_question(queue: Queue) -> Command:
    """Return the request for the offset that the next message of *queue* will get."""
    return command(RequestCode.GET_MAX_OFFSET, _named(queue))


def search_question(queue: Queue, time_ms: int) -> Command:
    """Return the request for the offset of the message stored at *time_ms*."""
    fields = {**_named(queue), "timestamp": time_ms}
    return command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields)


def commit_notice(group: str, queue: Queue, offset: int) -> Command:
    """Return the notice that *group* has handled everything before *offset*."""
    return notice(RequestCode.UPDATE_CONSUMER_OFFSET, _handled(group, queue, offset))


def commit_request(group: str, queue: Queue, offset: int) -> Command:
    """Return the same as a request: the broker is to confirm it."""
    return command(RequestCode.UPDATE_CONSUMER_OFFSET, _handled(group, queue, offset))


def _handled(group: str, queue: Queue, offset: int) -> dict[str, object]:
    return {"consumerGroup": group, **_named(queue), "commitOffset": offset}


def hand_back(
    group: str,
    *,
    topic: str,
    commit_log_offset: int,
    message_id: str,
    retries_max: int = RETRIES_MAX,
) -> Command:
    """Return the request that has a message delivered to *group* again, later."""
    fields = {  # [CLIENT-RETURN-001]
        "group": group,
        "originTopic": topic,
        "offset": commit_log_offset,
        "delayLevel": 0,
        "originMsgId": message_id,
        "unitMode": "false",
        "maxReconsumeTimes": retries_max,
    }
    return command(RequestCode.CONSUMER_SEND_MSG_BACK, fields)


def _named(queue: Queue) -> dict[str, object]:
    return {"topic": queue.topic, "queueId": queue.queue_id}
