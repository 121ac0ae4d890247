"""
Retries of a send after a failed attempt.

A synchronous send is retried within its timeout and number of attempts, also after some
response codes. An asynchronous one is retried only without a response, a oneway send
never.
"""

from __future__ import annotations

from reference.core.client.message import Mode, SendResult, SendStatus
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.send_call import SendCall
from reference.core.client.remoting.errors import Failure, Reason
from spec.wire.remoting.response_code import ResponseCode

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
_RETRIED_REASONS = _NO_RESPONSE | {
    Reason.CONNECT,
    Reason.NO_BROKER,
    Reason.FORBIDDEN,
}


def retries(
    call: SendCall, outcome: SendResult | Failure, options: ProducerOptions
) -> bool:
    """Return whether a send is retried after the *outcome* of its last attempt.

    With a queue selected by the application only an asynchronous send is retried, at
    the same broker.
    """
    tried, is_async = len(call.tried), call.mode is Mode.ASYNC
    retry_count = options.async_retry_count if is_async else options.retry_count
    if call.mode is Mode.ONEWAY or tried > retry_count:
        return False
    if is_async:
        if isinstance(outcome, SendResult):
            return False
        if outcome.reason is Reason.CONNECT:
            return tried > 1  # [CLIENT-RETRY-009]
        return outcome.reason in _NO_RESPONSE  # [CLIENT-RETRY-004]
    if call.selector is not None:  # [CLIENT-RETRY-012]
        return False
    if isinstance(outcome, SendResult):  # [CLIENT-RETRY-003]
        return options.retries_not_stored and outcome.status is not SendStatus.SEND_OK
    if outcome.reason is Reason.REFUSED:  # [CLIENT-RETRY-005]
        return outcome.code in RETRIED_CODES  # [CLIENT-RETRY-002]
    return outcome.reason in _RETRIED_REASONS


def attempt_timeout_ms(call: SendCall, now_ms: int) -> int:
    """Return the timeout in ms of the attempt that begins at *now_ms*.

    A synchronous send has the rest of its timeout. The timeout of an asynchronous
    one takes effect up to a second later, and its retries have only this second.
    """
    spent_ms = now_ms - call.begun_ms
    left_ms = max(call.timeout_ms - spent_ms, 0)  # [CLIENT-SEND-001]
    if call.mode is not Mode.ASYNC:
        return left_ms
    is_first = len(call.tried) == 1
    return SCAN_PERIOD_MS + (left_ms if is_first else 0)  # [CLIENT-RETRY-010]
