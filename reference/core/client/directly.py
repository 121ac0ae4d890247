"""
Messages that an administrator has handed to a consumer, to see what comes of them.

They are of no queue that is read. What the application says of one is the answer, and
nothing else: no offset is committed for it, and it goes back to nobody.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from reference.core.answer import Answer, refusal
from reference.core.client.asking import Asker, Deliver
from reference.core.client.message import Queue
from reference.core.client.pulling import received
from reference.core.request import Request
from spec.layout import LayoutError
from spec.store.message_record import decode_record
from spec.wire.json_body import encode_body
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import ConsumedDirectly


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who waits for what comes of a message, and since when."""

    address: str
    opaque: int
    at_ms: int


class Directly:
    """Hands single messages to the application, and tells brokers what it said."""

    def __init__(self, asker: Asker, *, in_order: bool) -> None:
        self._asker = asker
        self._in_order = in_order
        self._tickets = itertools.count(1)
        self._asked: dict[int, _Asked] = {}

    def deliver(self, address: str, request: Request, now_ms: int) -> Answer | None:
        """Hand the message of *request* over; the answer comes when it is handled."""
        try:
            record = decode_record(request.body)
            name = request.optional_text("brokerName") or ""
            message = received(record, Queue(record.topic, name, record.queue_id))
        except LayoutError as error:
            return refusal(ResponseCode.SYSTEM_ERROR, str(error))
        ticket = next(self._tickets)
        self._asked[ticket] = _Asked(address, request.opaque, now_ms)
        self._asker.emit(Deliver(message.queue, (message,), ticket))
        return None

    def handled(
        self, ticket: int, *, is_failed: bool, error: str | None, now_ms: int
    ) -> None:
        """Answer what came of the message with this *ticket*."""
        asked = self._asked.pop(ticket)
        result = "CR_LATER" if is_failed else "CR_SUCCESS"
        told = ConsumedDirectly(
            is_ordered=self._in_order,
            result=result if error is None else "CR_THROW_EXCEPTION",
            remark=error,
            spent_ms=now_ms - asked.at_ms,
        )
        answer = Answer(body=encode_body(told))
        self._asker.answer(asked.address, asked.opaque, answer)
