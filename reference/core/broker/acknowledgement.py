"""
Acknowledgement: a message that was put is answered when what was promised of it holds.

With SYNC_FLUSH that is when the disk has it. The broker does not stand still
meanwhile: the answer is sent later, and what else was put by then is flushed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, PutStatus

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

FormAnswer = Callable[[PutResult], Answer]


def acknowledge(
    broker: Broker,
    request: Request,
    message: NewMessage,
    *,
    result: PutResult,
    answer: FormAnswer,
) -> Answer | None:
    """Return the answer to a put, or None and send it when the disk has the message."""
    is_told_later = (
        broker.flushing.is_sync
        and message.wait_until_stored  # [SEND-STATE-010]
        and result.is_stored
    )
    if not is_told_later:
        return answer(result)

    def told(is_on_disk: bool) -> None:
        final = result
        if not is_on_disk and result.status is PutStatus.PUT_OK:
            # [SEND-STATE-011]
            final = result._replace(status=PutStatus.FLUSH_DISK_TIMEOUT)
        broker.answer_later(request, answer(final))

    # [STORE-FLUSH-001]
    end = result.physical_offset + result.size
    broker.flushing.wait(end, now_ms=request.now_ms, tell=told)
    return None
