"""
A pull: the request for what a queue has from an offset on, and what the answer says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from reference.core.client.asking import Outcome
from reference.core.client.failure import Failure, Reason
from reference.core.client.inflating import inflated
from reference.core.client.message import Queue
from reference.core.client.requests import command
from reference.core.client.subscription import wants
from reference.core.request import FieldError, Request
from spec.client.subscribing import SUSPEND_MS
from spec.layout import LayoutError
from spec.store.message_record import Record, SystemFlag, decode_records
from spec.wire.command import Command
from spec.wire.heartbeat import Subscription
from spec.wire.message_id import encode_message_id
from spec.wire.properties import Property, decode_properties
from spec.wire.pull import PullFlag
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message, as an application gets it."""

    topic: str
    """Where it was sent; not the retry topic that it may come from."""
    body: bytes
    properties: Mapping[str, str]
    queue: Queue
    """Where it was read."""
    record: Record
    """All else: offsets, times, hosts, flags."""

    @property
    def message_id(self) -> str:
        """The producer's id of it, or the broker's where the producer gave none."""
        return self.properties.get(Property.UNIQ_KEY) or self.offset_message_id

    @property
    def offset_message_id(self) -> str:
        """The broker's id of it."""
        return encode_message_id(self.record.store_host, self.record.physical_offset)


Filter = Callable[[list[Received]], None]
"""A hook that takes what it does not want out of the messages that were pulled; it is
called after the tags were compared (Java: FilterMessageHook)."""


class PullStatus(Enum):
    """What a pull led to."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MESSAGE = ResponseCode.PULL_NOT_FOUND
    NO_MATCHED_MESSAGE = ResponseCode.PULL_RETRY_IMMEDIATELY
    OFFSET_ILLEGAL = ResponseCode.PULL_OFFSET_MOVED


_STATUS = {int(status.value): status for status in PullStatus}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What the answer to a pull says."""

    status: PullStatus
    next_offset: int
    min_offset: int
    max_offset: int
    suggested_broker_id: int
    messages: tuple[Received, ...] = ()


def pull_command(
    queue: Queue,
    subscription: Subscription,
    *,
    group: str,
    offset: int,
    committed: int | None = None,
    max_count: int = 32,
    suspend_ms: int = SUSPEND_MS,
    waits: bool = True,
) -> Command:
    """Return the request for messages of *queue* from *offset* on.

    *committed* is an offset to commit with it, if any; a slave must get none. The
    broker *waits* for messages, or says at once that there are none.
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
    return command(RequestCode.PULL_MESSAGE, fields)


def pulled(
    outcome: Outcome,
    queue: Queue,
    subscription: Subscription,
    filters: Sequence[Filter] = (),
) -> Pulled | Failure:
    """Return what the answer to a pull of *queue* says, without what *filters* drop."""
    if isinstance(outcome, Failure):
        return outcome
    status = _STATUS.get(outcome.code)  # [CLIENT-PULL-001]
    if status is None:
        return _failure(outcome, outcome.remark or "")
    found = status is PullStatus.FOUND
    try:
        return Pulled(
            status=status,
            next_offset=outcome.int64("nextBeginOffset"),
            min_offset=outcome.int64("minOffset"),
            max_offset=outcome.int64("maxOffset"),
            suggested_broker_id=outcome.int64("suggestWhichBrokerId"),
            messages=_kept(outcome.body, queue, subscription, filters) if found else (),
        )
    except (FieldError, LayoutError) as error:
        return _failure(outcome, str(error))


def _kept(
    body: bytes, queue: Queue, subscription: Subscription, filters: Sequence[Filter]
) -> tuple[Received, ...]:
    """Return the wanted ones that each of *filters* leaves, whatever others threw."""
    messages = list(_messages(body, queue, subscription))
    for drop in filters:
        with suppress(Exception):
            drop(messages)
    return tuple(messages)


def _messages(
    body: bytes, queue: Queue, subscription: Subscription
) -> tuple[Received, ...]:
    """Return the wanted ones of the records in *body*."""
    messages = (received(record, queue) for record in decode_records(body))
    return tuple(one for one in messages if wants(subscription, dict(one.properties)))


def received(record: Record, queue: Queue) -> Received:
    """Return *record*, read from *queue*, as an application gets it."""
    body = record.body
    if record.system_flags & SystemFlag.COMPRESSED:  # [CLIENT-PULL-007]
        body = inflated(body, record.system_flags)
    properties = decode_properties(record.properties)
    return Received(
        topic=properties.get(Property.RETRY_TOPIC, record.topic),  # [CLIENT-RETURN-002]
        body=body,
        properties=properties,
        queue=queue,
        record=record,
    )


def _failure(outcome: Request, remark: str) -> Failure:
    return Failure(reason=Reason.REFUSED, code=outcome.code, remark=remark)
