"""
Transactional messages: half message, local transaction, END_TRANSACTION.

Without END_TRANSACTION the broker sends a transaction check to any producer of the
group. The check callback has to decide about messages of other producers too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from msgspec.structs import replace

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import Message, SendResult, SendStatus
from reference.core.client.pull.message_ext import MessageExt, decode_message
from reference.core.remoting.request import FieldError, Request
from reference.core.remoting.response import Response, create_request
from reference.core.unexpected import error_text
from spec.layout import LayoutError
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import Property
from spec.wire.remoting.request_code import RequestCode


class LocalTransactionState(IntEnum):
    """Outcome of a local transaction, as `commitOrRollback` has it."""

    UNKNOWN = 0
    COMMIT = 8
    ROLLBACK = 12


TransactionCheck = Callable[[MessageExt], LocalTransactionState]
"""Returns the outcome for a half message (Java: TransactionListener)."""


def half_message(message: Message, group: str) -> Message:
    """Return *message* as the half message of a producer in *group*."""
    properties = dict(message.properties)  # [CLIENT-TXN-001]
    properties.pop(Property.DELAY, None)
    properties |= {Property.TRAN_MSG: "true", Property.PGROUP: group}
    return replace(message, properties=properties)


class TransactionService:
    """The transactions of one producer group."""

    def __init__(
        self, group: str, check: TransactionCheck, client: ClientInstance
    ) -> None:
        self.group = group
        self._check = check
        self._rpc, self._routes = client.rpc, client.routes
        client.rpc.handlers[RequestCode.CHECK_TRANSACTION_STATE] = self._check_state

    def end_transaction(
        self, result: SendResult, act: Callable[[], LocalTransactionState]
    ) -> LocalTransactionState:
        """Run the local transaction *act*, and send its outcome to the broker."""
        if result.status is SendStatus.SEND_OK:
            state, remark = _run(act)
        else:  # [CLIENT-TXN-003]
            state, remark = LocalTransactionState.ROLLBACK, None
        try:
            _, offset = decode_message_id(result.offset_message_id)
        except LayoutError as error:
            # As in 4.6.0 the application gets its outcome. The broker checks later.
            self._rpc.log_error(f"transaction {result.message_id} not ended: {error}")
            return state
        fields = {  # [CLIENT-TXN-002]
            "tranStateTableOffset": result.queue_offset,
            "commitLogOffset": offset,
            "fromTransactionCheck": "false",
            "msgId": result.message_id,
            "transactionId": result.transaction_id,
        }
        address = self._routes.address(result.queue.broker_name)
        self._send(address, state, fields, remark)
        return state

    def _check_state(self, address: str, request: Request) -> Response | None:
        try:
            message = decode_message(request.body, "")
            queue_offset = request.int64("tranStateTableOffset")
            commit_log_offset = request.int64("commitLogOffset")
        except (LayoutError, FieldError):
            return None
        if message.properties.get(Property.PGROUP) != self.group:
            return None  # [CLIENT-TXN-006]
        state, remark = _run(lambda: self._check(message))
        fields = {  # [CLIENT-TXN-005]
            "tranStateTableOffset": queue_offset,
            "commitLogOffset": commit_log_offset,
            "fromTransactionCheck": "true",
            "msgId": message.message_id,
            "transactionId": request.optional_text("transactionId"),
        }
        self._send(address, state, fields, remark)
        return None

    def _send(
        self,
        address: str | None,
        state: LocalTransactionState,
        fields: Mapping[str, object],
        remark: str | None,
    ) -> None:
        outcome = {"producerGroup": self.group, "commitOrRollback": int(state)}
        request = create_request(
            RequestCode.END_TRANSACTION,
            {**outcome, **fields},
            oneway=True,
            remark=remark,
        )
        self._rpc.invoke_oneway(address, request)


def _run(
    act: Callable[[], LocalTransactionState],
) -> tuple[LocalTransactionState, str | None]:
    """Run *act*; an exception gives UNKNOWN, with a remark."""
    try:
        return act(), None
    except Exception as error:  # [CLIENT-TXN-004]
        return LocalTransactionState.UNKNOWN, error_text(error)
