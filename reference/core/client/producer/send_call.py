"""The state of one send from the application's call to its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reference.core.client.hooks import SendContext
from reference.core.client.message import (
    STATUS_OF_CODE,
    MessageQueue,
    Mode,
    SendResult,
)
from reference.core.client.producer.send_request import PreparedMessage
from reference.core.client.remoting.errors import ClientError, Failure
from reference.core.client.remoting.rpc_client import Call, Result, failure_of
from reference.core.remoting.request import FieldError
from spec.wire.remoting.command import Command

Selector = Callable[[Sequence[MessageQueue]], MessageQueue]
"""The application's selection of a queue (Java: MessageQueueSelector)."""
SendOutcome = SendResult | ClientError | None
"""The outcome of a send; None for a oneway send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendCallbacks:
    """Callbacks of a send that belongs to a request."""

    on_route: Callable[[int], None]
    """Called with the time if the topic's route had to be fetched."""
    on_end: Callable[[SendOutcome], None]
    """Called with the outcome."""


@dataclass(slots=True, kw_only=True, eq=False)
class SendCall(Call[SendResult | None]):
    """One send with its attempts; its value is None for a oneway send."""

    message: PreparedMessage
    mode: Mode
    selector: Selector | None
    begun_ms: int
    timeout_ms: int
    callbacks: SendCallbacks | None = None
    tried: list[str] = field(default_factory=list)
    """The broker of each attempt."""
    queue: MessageQueue | None = None
    """The queue of the last attempt."""
    sent_ms: int = 0
    """The time of the last attempt."""
    command: Command | None = None
    """The first request, which an asynchronous send repeats unchanged."""
    context: SendContext | None = None
    """The context of hooks that wait for a result."""
    failure: Failure | None = None
    """The failure of the last attempt."""
    result: SendResult | None = None


def send_result(call: SendCall, result: Result) -> SendResult | Failure:
    """Decode the response to the last attempt."""
    if isinstance(result, Failure):
        return result
    status = STATUS_OF_CODE.get(result.code)  # [CLIENT-SENDRESULT-001]
    if status is None:
        return failure_of(result)
    assert call.queue is not None, "a response has a request to a queue"
    try:
        return SendResult(
            status=status,
            message_id=call.message.message_id,  # [CLIENT-SENDRESULT-002]
            offset_message_id=result.text("msgId"),
            queue=replace(call.queue, queue_id=result.int32("queueId")),
            queue_offset=result.int64("queueOffset"),
            transaction_id=result.optional_text("transactionId"),
        )
    except FieldError as error:
        return failure_of(result, str(error))
