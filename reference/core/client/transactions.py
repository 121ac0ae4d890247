"""
Transactions: a half message is stored, the application acts, and the broker is told.

A broker that hears nothing asks, at any producer of the group; whoever is asked must
be able to say what came of another's message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import IntEnum

from reference.core.answer import Answer
from reference.core.client.asking import Asker
from reference.core.client.message import Message, Queue, SendResult, SendStatus
from reference.core.client.pulling import Received, received
from reference.core.client.requests import notice
from reference.core.client.routes import Routes
from reference.core.request import FieldError, Request
from spec.layout import LayoutError
from spec.store.message_record import decode_record
from spec.wire.message_id import decode_message_id
from spec.wire.properties import Property
from spec.wire.request_code import RequestCode


class Decision(IntEnum):
    """What came of a transaction, as END_TRANSACTION says it."""

    UNKNOWN = 0
    COMMIT = 8
    ROLLBACK = 12


Check = Callable[[Received], Decision]
"""Says what came of the transaction of a half message."""


def half_message(message: Message, group: str) -> Message:
    """Return *message* as the half message of a producer in *group*."""
    properties = dict(message.properties)  # [CLIENT-TXN-001]
    properties.pop(Property.DELAY, None)
    properties |= {Property.TRAN_MSG: "true", Property.PGROUP: group}
    return replace(message, properties=properties)


class Transactions:
    """The transactions of one producer group."""

    def __init__(
        self, group: str, check: Check, *, asker: Asker, routes: Routes
    ) -> None:
        self.group = group
        self._check = check
        self._asker = asker
        self._routes = routes
        asker.handlers[RequestCode.CHECK_TRANSACTION_STATE] = self._asked

    def finish(self, result: SendResult, act: Callable[[], Decision]) -> Decision:
        """Let the application *act* for the half message of *result*, and tell."""
        if result.status is SendStatus.SEND_OK:
            decision, remark = _decided(act)
        else:  # [CLIENT-TXN-003]
            decision, remark = Decision.ROLLBACK, None
        address = self._routes.address(result.queue.broker_name)
        if address is not None:
            _, offset = decode_message_id(result.offset_message_id)
            fields = {  # [CLIENT-TXN-002]
                "producerGroup": self.group,
                "tranStateTableOffset": result.queue_offset,
                "commitLogOffset": offset,
                "commitOrRollback": int(decision),
                "fromTransactionCheck": "false",
                "msgId": result.message_id,
                "transactionId": result.transaction_id,
            }
            self._tell(address, fields, remark)
        return decision

    def _asked(self, address: str, request: Request, _now_ms: int) -> Answer | None:
        """Tell a broker what came of a transaction that it asks about."""
        try:
            record = decode_record(request.body)
            offsets = {
                "tranStateTableOffset": request.int64("tranStateTableOffset"),
                "commitLogOffset": request.int64("commitLogOffset"),
            }
        except (LayoutError, FieldError):
            return None
        message = received(record, Queue(record.topic, "", record.queue_id))
        if message.properties.get(Property.PGROUP) != self.group:
            return None  # [CLIENT-TXN-006]
        decision, remark = _decided(lambda: self._check(message))
        fields = {  # [CLIENT-TXN-005]
            "producerGroup": self.group,
            **offsets,
            "commitOrRollback": int(decision),
            "fromTransactionCheck": "true",
            "msgId": message.message_id,
            "transactionId": request.optional_text("transactionId"),
        }
        self._tell(address, fields, remark)
        return None

    def _tell(
        self, address: str, fields: Mapping[str, object], remark: str | None
    ) -> None:
        told = notice(RequestCode.END_TRANSACTION, fields)
        self._asker.tell(address, replace(told, remark=remark))


def _decided(act: Callable[[], Decision]) -> tuple[Decision, str | None]:
    """Return what *act* decides; a failure of it is no decision, and a remark."""
    try:
        return act(), None
    except Exception as error:  # [CLIENT-TXN-004]
        # Whatever went wrong in the application, the broker is told that nobody knows.
        return Decision.UNKNOWN, f"{type(error).__name__}: {error}"
