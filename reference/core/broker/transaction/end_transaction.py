"""
END_TRANSACTION: a producer commits or rolls back (Java: EndTransactionProcessor).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reference.core.broker.ports import Ports
from reference.core.broker.query_message import look_message_by_offset
from reference.core.broker.send.put_result import (
    not_stored_response,
    put_message,
    respond_to_put,
)
from reference.core.broker.state import BrokerState
from reference.core.broker.transaction.half_message import (
    HALF_MESSAGE_TRANSITIONS,
    TRANSACTION_BITS,
    HalfEvent,
    HalfState,
    append_op_message,
)
from reference.core.remoting.request import Refused, Request, request_decoder
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.store.types import NewMessage, message_of_record
from spec.integers import parse_java_int
from spec.store.message_record import Record
from spec.wire.headers.request_headers import (
    END_TRANSACTION_FIELDS,
    EndTransactionRequestHeader,
)
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.transactions import Decision
from spec.wire.remoting.response_code import ResponseCode

_EVENTS = {
    int(Decision.COMMIT): HalfEvent.COMMIT,
    int(Decision.ROLLBACK): HalfEvent.ROLLBACK,
}
_decode = request_decoder(EndTransactionRequestHeader, END_TRANSACTION_FIELDS)


def handle_end_transaction(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Commit or roll back; a producer in doubt gets no response.

    The response to a commit waits for the message's flush and replication, whose
    timeouts do not change it.
    """
    if state.options.is_slave:  # [TXN-END-016]
        return Response(ResponseCode.SLAVE_NOT_AVAILABLE)
    header = _decode(request)
    if header.commit_or_rollback == Decision.UNKNOWN:  # [TXN-END-004]
        return None
    event = _EVENTS.get(header.commit_or_rollback)
    if event is None:  # [TXN-END-017]
        raise Refused(SYSTEM_ERROR, "commitOrRollback field wrong")
    half, properties = _find_half_message(state, header)
    # A half message counts as undecided, even after a first decision.
    # [TXN-END-008] [TXN-END-009]
    if HALF_MESSAGE_TRANSITIONS[HalfState.PREPARED, event] is HalfState.COMMITTED:
        message = _committed_message(half, properties)
        result = put_message(state, message, request.now_ms)
        if not result.is_stored:
            code = not_stored_response(state.options, result.status).code
            raise Refused(code, result.status.name)
        append_op_message(state, half, request.now_ms)  # [TXN-END-003]
        return respond_to_put(
            state, ports, request, message, result=result, form=lambda _: Response()
        )
    append_op_message(state, half, request.now_ms)
    return Response()


def _find_half_message(
    state: BrokerState, header: EndTransactionRequestHeader
) -> tuple[Record, Mapping[str, str]]:
    """Return the half message that *header* names, and its properties."""
    half = look_message_by_offset(state.store, header.commit_log_offset)
    if half is None:  # [TXN-END-005]
        raise Refused(SYSTEM_ERROR, "Find prepared transaction message failed")
    properties = decode_properties(half.properties)
    # [TXN-END-006] [TXN-END-012] [TXN-END-013] [TXN-END-014]
    if properties.get(Property.PGROUP) != header.producer_group:
        raise Refused(SYSTEM_ERROR, "The producer group wrong")
    if half.queue_offset != header.tran_state_table_offset:  # [TXN-END-007]
        raise Refused(SYSTEM_ERROR, "The transaction state table offset wrong")
    if half.physical_offset != header.commit_log_offset:
        raise Refused(SYSTEM_ERROR, "The commit log offset wrong")
    return half, properties


def _committed_message(half: Record, properties: Mapping[str, str]) -> NewMessage:
    """Return the message for the real topic and queue of *half*.

    4.6.0 encodes the properties before it removes REAL_TOPIC and REAL_QID, so that the
    message keeps both. [TXN-END-010]
    """
    topic = properties.get(Property.REAL_TOPIC)
    queue_id = parse_java_int(properties.get(Property.REAL_QID))
    if topic is None or queue_id is None:
        raise Refused(SYSTEM_ERROR, "Find prepared transaction message failed")
    system_flags = half.system_flags & ~TRANSACTION_BITS
    return replace(
        message_of_record(half, topic, queue_id),  # [TXN-END-001]
        system_flags=system_flags | Decision.COMMIT,  # [TXN-END-002]
        prepared_transaction_offset=half.physical_offset,
    )
