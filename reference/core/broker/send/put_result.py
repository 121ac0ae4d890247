"""
The response to a put, after its flush and its replication.

SYNC_FLUSH waits for the disk, a SYNC_MASTER for a slave. The broker does not block
meanwhile: the response is sent later, and one flush or transfer serves many messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.ports import Ports
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import ONEWAY_BIT, Request
from reference.core.remoting.response import Response
from reference.core.store.types import NewMessage, PutResult, PutStatus
from spec.wire.message.properties import (
    NAME_END,
    VALUE_END,
    Property,
    decode_properties,
)
from spec.wire.remoting.response_code import ResponseCode

FormResponse = Callable[[PutResult], Response]
BUSY = "[REJECTREQUEST]system busy, start flow control for a while"
"""Remark for producers, and for send backs, while the store is overloaded."""

_WAIT = f"{Property.WAIT}{NAME_END}"
_WAIT_TRUE = f"{_WAIT}true{VALUE_END}"
_ILLEGAL = (
    "the message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit 128k, msg properties length limit 32k."
)
_NOT_STORED = {
    PutStatus.CREATE_FILE_FAILED: (
        ResponseCode.SYSTEM_ERROR,
        "create mapped file failed, server is busy or broken.",
    ),
    PutStatus.MESSAGE_ILLEGAL: (ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutStatus.PROPERTIES_SIZE_EXCEEDED: (ResponseCode.MESSAGE_ILLEGAL, _ILLEGAL),
    PutStatus.SERVICE_NOT_AVAILABLE: (
        ResponseCode.SERVICE_NOT_AVAILABLE,
        "service not available now, maybe disk full, maybe your broker machine memory "
        "too small.",
    ),
}
"""Code and remark for a producer whose message was not stored."""


def put_messages(
    state: BrokerState, messages: Sequence[NewMessage], now_ms: int
) -> list[PutResult]:
    """Append messages, which readers see after the next dispatch.

    A slave appends none: its log would have bytes that its master's lacks, and no
    transfer would fit any more.
    """
    if state.options.is_slave:  # [SEND-STATE-002]
        return [PutResult(PutStatus.SERVICE_NOT_AVAILABLE)] * len(messages)
    state.has_appended = True
    return state.store.append(messages, now_ms)


def put_message(state: BrokerState, message: NewMessage, now_ms: int) -> PutResult:
    """Append one message, as `put_messages` does."""
    (result,) = put_messages(state, [message], now_ms)
    return result


def respond_to_put(
    state: BrokerState,
    ports: Ports,
    request: Request,
    message: NewMessage,
    *,
    result: PutResult,
    form: FormResponse,
) -> Response | None:
    """Return the response to a put; None if it is sent later or the put is oneway.

    4.6.0 org.apache.rocketmq.store.CommitLog#handleDiskFlush and #handleHA wait one
    after the other; here both waits run at the same time.
    """
    if request.flag & ONEWAY_BIT:
        return None
    # [SEND-STATE-010] [HA-WAIT-004]
    if not (result.is_stored and is_wait_store_msg_ok(message.properties)):
        return form(result)
    waits = []
    end = result.physical_offset + result.size
    if ports.flusher.is_sync:  # [STORE-FLUSH-001]
        waits.append((ports.flusher.wait, PutStatus.FLUSH_DISK_TIMEOUT))
    if state.options.is_sync_master:
        if ports.slaves.is_slave_ok(end):
            waits.append((ports.slaves.wait, PutStatus.FLUSH_SLAVE_TIMEOUT))
        else:  # [SEND-STATE-008]
            result = replace(result, status=PutStatus.SLAVE_NOT_AVAILABLE)
    if not waits:
        return form(result)
    open_count = len(waits)

    def on_done(failure: PutStatus, is_there: bool) -> None:
        """Record that one wait has ended; *is_there* is False after its timeout."""
        nonlocal result, open_count
        # [SEND-STATE-011] [SEND-STATE-012]
        is_worse = (
            result.status is PutStatus.PUT_OK
            or failure is PutStatus.FLUSH_SLAVE_TIMEOUT
        )
        if not is_there and is_worse:
            result = replace(result, status=failure)
        open_count -= 1
        if open_count == 0:
            ports.remoting.respond(request, form(result))

    for wait, failure in waits:
        wait(end, now_ms=request.now_ms, on_done=partial(on_done, failure))
    return None


def is_wait_store_msg_ok(properties: str) -> bool:
    """Return whether the response waits for flush and replication.

    4.6.0 org.apache.rocketmq.common.message.Message#isWaitStoreMsgOK.
    """
    # Decoding takes a fifth of a send; nearly all messages have WAIT=true or no WAIT.
    if properties.count(_WAIT) == properties.count(_WAIT_TRUE):
        return True
    value = decode_properties(properties).get(Property.WAIT)
    return value is None or value.lower() == "true"


def broker_fields(region: str, is_traced: bool) -> dict[str, object]:
    """Return the fields that every response to a send has, refused or not."""
    return {
        "MSG_REGION": region,  # [SEND-RESPONSE-004] [SEND-RESPONSE-005]
        "TRACE_ON": is_traced,
    }


def not_stored_response(options: BrokerOptions, status: PutStatus) -> Response:
    """Return the response to a send whose message was not stored."""
    unknown = ResponseCode.SYSTEM_ERROR, "UNKNOWN_ERROR"
    code, remark = _NOT_STORED.get(status, unknown)
    fields = broker_fields(options.region_id, options.trace_on)
    return Response(int(code), remark, fields)
