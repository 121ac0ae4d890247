"""
What a producer does after an attempt failed: once more, or tell the caller.

It depends on how the caller waits. A synchronous send goes on as long as its time and
its attempts last, after some error codes too. An asynchronous one goes on only when
nothing was answered; a oneway send never.
"""

from __future__ import annotations

from reference.core.client.failure import Failure, Reason
from reference.core.client.message import Mode
from spec.wire.producer_retries import RETRIES
from spec.wire.response_code import ResponseCode

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
"""After these, not after SYSTEM_BUSY [CLIENT-RETRY-014], a send is tried again."""
LOOKED_THROUGH_MS = 1000
"""How much later than its time an asynchronous request is given up."""

_NEVER_ANSWERED = frozenset({Reason.LOST, Reason.TIMEOUT})
_WORTH_ANOTHER = _NEVER_ANSWERED | {
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
    chosen: bool = False,
) -> bool:
    """Return whether a send that has *failure* after *tried* attempts is tried again.

    *chosen* says that the application chose the queue: then only an asynchronous
    send is repeated, to the same broker.
    """
    if mode is Mode.ONEWAY or tried > retry_count:  # [CLIENT-RETRY-007]
        return False
    if mode is Mode.ASYNC:
        if failure.reason is Reason.CONNECT:
            return tried > 1  # [CLIENT-RETRY-009]
        return failure.reason in _NEVER_ANSWERED  # [CLIENT-RETRY-004]
    if chosen:  # [CLIENT-RETRY-012]
        return False
    if failure.reason is Reason.REFUSED:  # [CLIENT-RETRY-005]
        return failure.code in RETRIED_CODES  # [CLIENT-RETRY-002]
    return failure.reason in _WORTH_ANOTHER


def attempt_timeout_ms(
    mode: Mode, timeout_ms: int, *, spent_ms: int, tried: int
) -> int:
    """Return how long the next attempt waits for its answer.

    *tried* is how many attempts there were. A synchronous send has what is left of its
    time. An asynchronous one is looked at a second later, and its retries have nothing
    but this second.
    """
    left_ms = max(timeout_ms - spent_ms, 0)  # [CLIENT-SEND-001]
    if mode is not Mode.ASYNC:
        return left_ms
    return LOOKED_THROUGH_MS + (0 if tried else left_ms)  # [CLIENT-RETRY-010]
