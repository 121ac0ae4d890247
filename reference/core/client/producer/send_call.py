"""One send from the application's call to its result: attempts, retries, timeouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reference.core.client.hooks import SendContext
from reference.core.client.message import (
    STATUS_OF_CODE,
    MessageQueue,
    Mode,
    SendResult,
    SendStatus,
)
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.send_request import PreparedMessage
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.rpc_client import Result, failure_of
from reference.core.remoting.request import FieldError
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

Selector = Callable[[Sequence[MessageQueue]], MessageQueue]
"""The application's selection of a queue (Java: MessageQueueSelector)."""

RETRIED_CODES = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
    }
)
"""Codes after which a send is retried; not SYSTEM_BUSY [CLIENT-RETRY-014]."""
SCAN_PERIOD_MS = 1000
"""Delay of an asynchronous timeout (Java: NettyRemotingAbstract#scanResponseTable)."""

_NO_RESPONSE = frozenset({Reason.LOST, Reason.TIMEOUT})
_RETRIED_REASONS = _NO_RESPONSE | {Reason.CONNECT, Reason.NO_BROKER, Reason.FORBIDDEN}


class Attempt(Struct, frozen=True, kw_only=True):
    """One request of a send."""

    queue: MessageQueue
    begun_ms: int
    """Born time of the message in the request."""


class SendCall(Struct, kw_only=True):
    """One send of an application."""

    message: PreparedMessage
    mode: Mode
    selector: Selector | None
    begun_ms: int
    timeout_ms: int
    attempts: list[Attempt] = field(default_factory=list)
    command: Command | None = None
    """The first request, which an asynchronous send repeats unchanged."""
    context: SendContext | None = None
    """The context of hooks that wait for a result."""
    failure: Failure | None = None
    """The failure of the last attempt that failed."""
    result: SendResult | None = None
    """The result of the last attempt that stored the message."""

    @property
    def last_broker(self) -> str | None:
        """The broker of the last attempt; None before the first one."""
        return self.attempts[-1].queue.broker_name if self.attempts else None

    def outcome(self, failure: Failure | None) -> SendResult:
        """Return the result; without any raise the error of the last *failure*."""
        if self.result is not None:
            return self.result
        assert failure is not None, "a send ends with a result or a failure"
        tried = tuple(one.queue.broker_name for one in self.attempts)
        raise ClientError(failure, tried)  # [CLIENT-RETRY-008]

    def is_retried(
        self, outcome: SendResult | Failure, options: ProducerOptions
    ) -> bool:
        """Return whether the send is retried after the *outcome* of its last attempt.

        A synchronous send is retried within its timeout and number of attempts, also
        after some response codes. An asynchronous one is retried only without a
        response, a oneway send never. With a queue selected by the application only
        an asynchronous send is retried, at the same broker.
        """
        tried, is_async = len(self.attempts), self.mode is Mode.ASYNC
        retry_count = options.async_retry_count if is_async else options.retry_count
        if self.mode is Mode.ONEWAY or tried > retry_count:
            return False
        if is_async:
            if isinstance(outcome, SendResult):
                return False
            if outcome.reason is Reason.CONNECT:
                return tried > 1  # [CLIENT-RETRY-009]
            return outcome.reason in _NO_RESPONSE  # [CLIENT-RETRY-004]
        if self.selector is not None:  # [CLIENT-RETRY-012]
            return False
        if isinstance(outcome, SendResult):  # [CLIENT-RETRY-003]
            return (
                options.retries_not_stored and outcome.status is not SendStatus.SEND_OK
            )
        if outcome.reason is Reason.REFUSED:  # [CLIENT-RETRY-005]
            return outcome.code in RETRIED_CODES  # [CLIENT-RETRY-002]
        return outcome.reason in _RETRIED_REASONS

    def attempt_timeout_ms(self, now_ms: int) -> int:
        """Return the timeout in ms of the attempt that begins at *now_ms*.

        A synchronous send has the rest of its timeout. The timeout of an asynchronous
        one takes effect up to a second later, and its retries have only this second.
        """
        spent_ms = now_ms - self.begun_ms
        left_ms = max(self.timeout_ms - spent_ms, 0)  # [CLIENT-SEND-001]
        if self.mode is not Mode.ASYNC:
            return left_ms
        is_first = len(self.attempts) == 1
        return SCAN_PERIOD_MS + (left_ms if is_first else 0)  # [CLIENT-RETRY-010]


def send_result(
    result: Result, *, queue: MessageQueue, message_id: str
) -> SendResult | Failure:
    """Decode the response to an attempt at *queue*; an error is a failure."""
    if isinstance(result, Failure):
        return result
    status = STATUS_OF_CODE.get(result.code)  # [CLIENT-SENDRESULT-001]
    if status is None:
        return failure_of(result)
    try:
        return SendResult(
            status=status,
            message_id=message_id,  # [CLIENT-SENDRESULT-002]
            offset_message_id=result.text("msgId"),
            queue=replace(queue, queue_id=result.int32("queueId")),
            queue_offset=result.int64("queueOffset"),
            transaction_id=result.optional_text("transactionId"),
        )
    except FieldError as error:
        return failure_of(result, str(error))
