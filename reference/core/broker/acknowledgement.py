"""
Acknowledgement: a message that was put is answered when what was promised of it holds.

With SYNC_FLUSH that is when the disk has it, at a SYNC_MASTER when a slave does. The
broker does not stand still meanwhile: the answer is sent later, and what else was put
by then is flushed and copied with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, PutStatus

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

FormAnswer = Callable[[PutResult], Answer]
BUSY = "[REJECTREQUEST]system busy, start flow control for a while"
"""Said to producers, and to consumers that give back, while the store is overloaded."""


def acknowledge(
    broker: Broker,
    request: Request,
    message: NewMessage,
    *,
    result: PutResult,
    answer: FormAnswer,
) -> Answer | None:
    """Return the answer to a put, or None and send it when what it waits for is so.

    4.6.0 org.apache.rocketmq.store.CommitLog#handleDiskFlush and #handleHA, which wait
    one after the other; here both are waited for at once.
    """
    if request.flag & 2:
        return None  # nobody is told, now or later [WIRE-COMMAND-002]
    # [SEND-STATE-010] [HA-WAIT-004]
    if not (message.wait_until_stored and result.is_stored):
        return answer(result)
    waits = []
    end = result.physical_offset + result.size
    if broker.flushing.is_sync:  # [STORE-FLUSH-001]
        waits.append((broker.flushing.wait, PutStatus.FLUSH_DISK_TIMEOUT))
    if broker.options.is_sync_master:
        slaves = broker.replicas.slaves
        if slaves.keep_up(end):
            waits.append((slaves.wait, PutStatus.FLUSH_SLAVE_TIMEOUT))
        else:  # [SEND-STATE-008]
            result = result._replace(status=PutStatus.SLAVE_NOT_AVAILABLE)
    if not waits:
        return answer(result)
    pending = _Pending(result, len(waits), partial(_finish, broker, request, answer))
    for wait, failure in waits:
        wait(end, now_ms=request.now_ms, tell=partial(pending.told, failure))
    return None


def _finish(
    broker: Broker, request: Request, answer: FormAnswer, final: PutResult
) -> None:
    broker.answer_later(request, answer(final))


class _Pending:
    """A put whose answer depends on what disk and slaves will tell."""

    def __init__(
        self, result: PutResult, count: int, finish: Callable[[PutResult], None]
    ) -> None:
        self._result = result
        self._open_count = count
        self._finish = finish

    def told(self, failure: PutStatus, is_there: bool) -> None:
        """Note that one of them has the message, or does not have it in time."""
        # [SEND-STATE-011] [SEND-STATE-012]
        is_worse = (
            self._result.status is PutStatus.PUT_OK
            or failure is PutStatus.FLUSH_SLAVE_TIMEOUT
        )
        if not is_there and is_worse:
            self._result = self._result._replace(status=failure)
        self._open_count -= 1
        if self._open_count == 0:
            self._finish(self._result)
