"""
One send of an application from its call to its end, and what an answer says of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reference.core.client.asking import Outcome
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.hooks import Attempt
from reference.core.client.message import STATUS_OF_CODE, Mode, Queue, SendResult
from reference.core.client.send_request import Outgoing
from reference.core.request import FieldError
from spec.wire.command import Command

Selector = Callable[[Sequence[Queue]], Queue]
"""An application's own choice among the queues of the topic."""
Sent = SendResult | ClientError | None
"""What comes of a send; None of a oneway one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who is told of a send in place of the application."""

    found_queues: Callable[[int], None]
    """Called, with the time, if the topic's queues had to be asked for."""
    ended: Callable[[int, Sent], None]
    """Called with the call's number and what came of it."""


@dataclass(slots=True, kw_only=True)
class Call:
    """One send of the application, until its end."""

    number: int
    message: Outgoing
    mode: Mode
    selector: Selector | None
    begun_ms: int
    timeout_ms: int
    watch: Watch | None = None
    tried: list[str] = field(default_factory=list)
    """The broker of each attempt."""
    chosen: Queue | None = None
    """Where the application wants it."""
    command: Command | None = None
    """The first request, which an asynchronous send repeats as it is."""
    attempt: Attempt | None = None
    """What hooks were told of and wait to hear the end of."""
    failure: Failure | None = None
    """Why the last attempt failed."""
    result: SendResult | None = None
    """Of an attempt that stored the message less well than wished."""


def result_of(
    message: Outgoing, queue: Queue, outcome: Outcome
) -> SendResult | Failure:
    """Return what an answer says of *message*."""
    if isinstance(outcome, Failure):
        return outcome
    status = STATUS_OF_CODE.get(outcome.code)  # [CLIENT-ANSWER-001]
    remark = outcome.remark or ""
    if status is None:
        return Failure(reason=Reason.REFUSED, code=outcome.code, remark=remark)
    try:
        return SendResult(
            status=status,
            message_id=message.message_id,  # [CLIENT-ANSWER-002]
            offset_message_id=outcome.text("msgId"),
            queue=replace(queue, queue_id=outcome.int32("queueId")),
            queue_offset=outcome.int64("queueOffset"),
            transaction_id=outcome.optional_text("transactionId"),
        )
    except FieldError as error:
        return Failure(reason=Reason.REFUSED, code=outcome.code, remark=str(error))
