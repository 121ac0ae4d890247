"""Requests about one queue, for its messages and its offsets, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum

from msgspec import Struct

from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt, message_ext
from reference.core.client.pull.subscription import matches_tags
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Result, failure_of, is_success
from reference.core.remoting.request import FieldError
from reference.core.remoting.response import create_request
from spec.client.subscription import SUSPEND_MS
from spec.layout import LayoutError
from spec.store.message_record import decode_records
from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

FilterMessageHook = Callable[[list[MessageExt]], None]
"""Removes messages from the pulled ones, after the comparison of tags."""


class PullStatus(Enum):
    """Status of a pull (Java: PullStatus)."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MSG = ResponseCode.PULL_NOT_FOUND
    NO_MATCHED_MSG = ResponseCode.PULL_RETRY_IMMEDIATELY
    OFFSET_ILLEGAL = ResponseCode.PULL_OFFSET_MOVED


_STATUS = {int(status.value): status for status in PullStatus}


class PullResult(Struct, frozen=True, kw_only=True):
    """The result of a pull (Java: PullResult)."""

    status: PullStatus
    next_offset: int
    min_offset: int
    max_offset: int
    suggested_broker_id: int
    messages: tuple[MessageExt, ...] = ()


def queue_command(
    code: RequestCode,
    queue: MessageQueue,
    fields: Mapping[str, object] | None = None,
    *,
    oneway: bool = False,
) -> Command:
    """Build a request about the offsets of *queue*."""
    own = {"topic": queue.topic, "queueId": queue.queue_id}
    return create_request(code, {**(fields or {}), **own}, oneway=oneway)


def pull_command(
    queue: MessageQueue,
    subscription: SubscriptionData,
    *,
    group: str,
    offset: int,
    committed: int | None = None,
    max_count: int = 32,
    suspend_ms: int = SUSPEND_MS,
    waits: bool = True,
) -> Command:
    """Build PULL_MESSAGE for messages of *queue* from *offset*.

    *committed* is an offset to commit with the pull, for a master only. With *waits*
    the broker holds the request while it has no message.
    """
    flags = PullFlag.SUBSCRIPTION
    if waits:
        flags |= PullFlag.SUSPEND
    if committed:
        flags |= PullFlag.COMMIT_OFFSET
    fields = {
        "consumerGroup": group,
        "topic": queue.topic,
        "queueId": queue.queue_id,
        "queueOffset": offset,
        "maxMsgNums": max_count,
        "sysFlag": int(flags),
        "commitOffset": committed or 0,
        "suspendTimeoutMillis": suspend_ms,  # [CLIENT-PULL-006]
        "subscription": subscription.expression,
        "subVersion": subscription.version,
        "expressionType": subscription.expression_type,
    }
    return create_request(RequestCode.PULL_MESSAGE, fields)


def pull_result(
    result: Result,
    queue: MessageQueue,
    subscription: SubscriptionData,
    filters: Sequence[FilterMessageHook] = (),
) -> PullResult | Failure:
    """Decode the response to a pull, without the messages that *filters* remove."""
    if isinstance(result, Failure):
        return result
    status = _STATUS.get(result.code)  # [CLIENT-PULL-001]
    if status is None:
        return failure_of(result)
    try:
        messages: list[MessageExt] = []
        if status is PullStatus.FOUND:
            messages = _messages(result.body, queue, subscription)
            for hook in filters:
                with suppress(Exception):
                    hook(messages)
        return PullResult(
            status=status,
            next_offset=result.int64("nextBeginOffset"),
            min_offset=result.int64("minOffset"),
            max_offset=result.int64("maxOffset"),
            suggested_broker_id=result.int64("suggestWhichBrokerId"),
            messages=tuple(messages),
        )
    except (FieldError, LayoutError) as error:
        return failure_of(result, str(error))


def _messages(
    body: bytes, queue: MessageQueue, subscription: SubscriptionData
) -> list[MessageExt]:
    """Decode the records in *body* whose tag is subscribed to."""
    messages = (message_ext(record, queue) for record in decode_records(body))
    return [one for one in messages if matches_tags(subscription, dict(one.properties))]


def offset_of(result: Result) -> int | Failure:
    """Return the offset in a response, or the failure."""
    if not is_success(result):
        return failure_of(result)
    try:
        return result.int64("offset")
    except FieldError as error:
        return failure_of(result, str(error))


def committed_offset_of(result: Result) -> int | Failure | None:
    """Return the committed offset in a response, None if the group has none.

    Up to 4.9, Java reads any error code so, and passes over messages of a group whose
    broker is only busy (RemoteBrokerOffsetStore#readOffset). 5.0 mended that.
    """
    code = ResponseCode.QUERY_NOT_FOUND
    if not isinstance(result, Failure) and result.code == code:
        return None
    return offset_of(result)
