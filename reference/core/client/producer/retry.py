"""
Retries of a send after a failed attempt.

A synchronous send is retried within its timeout and number of attempts, also after some
response codes. An asynchronous one is retried only without a response, a oneway send
never.
"""

from __future__ import annotations

from reference.core.client.message import Mode
from reference.core.client.remoting.errors import Failure, Reason
from spec.wire.producer.retry import RETRIES
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
    mode: Mode,
    failure: Failure,
    *,
    tried: int,
    retry_count: int = RETRIES,
    is_selected: bool = False,
) -> bool:
    """Return whether a send is retried after *failure* of attempt number *tried*.

    With a queue selected by the application only an asynchronous send is retried, at
    the same broker.
    """
    if mode is Mode.ONEWAY or tried > retry_count:  # [CLIENT-RETRY-007]
        return False
    if mode is Mode.ASYNC:
        if failure.reason is Reason.CONNECT:
            return tried > 1  # [CLIENT-RETRY-009]
        return failure.reason in _NO_RESPONSE  # [CLIENT-RETRY-004]
    if is_selected:  # [CLIENT-RETRY-012]
        return False
    if failure.reason is Reason.REFUSED:  # [CLIENT-RETRY-005]
        return failure.code in RETRIED_CODES  # [CLIENT-RETRY-002]
    return failure.reason in _RETRIED_REASONS


def attempt_timeout_ms(
    mode: Mode, timeout_ms: int, *, spent_ms: int, tried: int
) -> int:
    """Return the timeout in ms of the attempt after *tried* others.

    A synchronous send has the rest of its timeout. The timeout of an asynchronous
    one takes effect up to a second later, and its retries have only this second.
    """
    left_ms = max(timeout_ms - spent_ms, 0)  # [CLIENT-SEND-001]
    if mode is not Mode.ASYNC:
        return left_ms
    return SCAN_PERIOD_MS + (0 if tried else left_ms)  # [CLIENT-RETRY-010]
