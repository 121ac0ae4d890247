"""
SEND_REPLY_MESSAGE and its V2: a reply is pushed to one client, not pulled.

The broker pushes the reply to the client whose request it answers, waits for that
client's response, stores the reply and then responds (Java: ReplyMessageProcessor).
"""

from __future__ import annotations

from msgspec.structs import replace

from reference.core.broker.ports import Ports
from reference.core.broker.send.put_result import (
    broker_fields,
    put_message,
    respond_to_put,
)
from reference.core.broker.send.send_message import (
    SEND_HEADERS,
    check_send,
    new_message,
    refusal,
)
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.store.types import NewMessage
from spec.wire.headers.request_headers import SendMessageRequestHeader
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.remoting.request_code import RequestCode

TIMEOUT_MS = 10_000


def handle_send_reply(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Push a reply to its client; respond after the client's response."""
    header = SEND_HEADERS[request.code](request)
    try:
        topic = check_send(state, request, header)
    except Refused as refused:
        return refusal(state, ports, request, refused)
    queue_id = header.queue_id
    if queue_id < 0:
        queue_id = next(state.numbers) % topic.write_queue_count
    properties = header.properties or ""
    reply = new_message(state, request, header, topic, queue_id, properties)
    # Even the flag of a compressed body is lost in the store. [SEND-REPLY-008]
    reply = replace(reply, system_flags=0)
    name = decode_properties(properties).get(Property.REPLY_TO_CLIENT)

    def finish(failure: str | None) -> Response | None:
        """Store the reply; return the response, or None where it is sent later."""
        fields = broker_fields(state.options.region_id, state.options.trace_on)
        if failure is None:  # [SEND-REPLY-003]
            fields |= {"msgId": "0", "queueId": reply.queue_id, "queueOffset": 0}
        # [SEND-REPLY-004]
        response = Response(0 if failure is None else SYSTEM_ERROR, failure, fields)
        if not state.options.store_reply_message_enable:  # [SEND-REPLY-005]
            return response
        result = put_message(state, reply, request.now_ms)
        state.statistics.uncounted.append([result])
        if result.is_stored:
            id_of_reply = encode_message_id(reply.store_host, result.physical_offset)
            fields["msgId"], fields["queueId"] = id_of_reply, reply.queue_id
            fields["queueOffset"] = result.queue_offset
        return respond_to_put(
            state, ports, request, reply, result=result, form=lambda _: response
        )

    if name is None:
        return finish("reply message properties[REPLY_TO_CLIENT] is null")
    connection = state.clients.producer_connections.get(name)
    if connection is None:
        return finish(f"push reply message fail, channel of <{name}> not found.")
    failure = f"push reply message to {name}fail."

    def on_response(pushed: Request | None) -> None:
        # The put is now, not at the request: store times do not go back along the log.
        deadline_ms = request.now_ms + TIMEOUT_MS
        request.now_ms = deadline_ms if pushed is None else pushed.now_ms
        has_failed = pushed is None or pushed.code != 0
        response = finish(failure if has_failed else None)
        if response is not None:
            ports.remoting.respond(request, response)

    ports.remoting.invoke(
        connection,
        RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,  # [SEND-REPLY-001]
        _pushed_fields(header, reply, request.now_ms),
        reply.body,
        on_response=on_response,
        timeout_at_ms=request.now_ms + TIMEOUT_MS,
    )
    return None


def _pushed_fields(
    header: SendMessageRequestHeader, reply: NewMessage, now_ms: int
) -> dict[str, object]:
    """Return the header of a pushed reply (Java: ReplyMessageRequestHeader)."""
    properties = decode_properties(reply.properties)
    properties[Property.PUSH_REPLY_TIME] = str(now_ms)
    return {  # [SEND-REPLY-002]
        "producerGroup": header.producer_group,
        "topic": reply.topic,
        "defaultTopic": header.default_topic,
        "defaultTopicQueueNums": header.default_topic_queue_nums,
        "queueId": str(header.queue_id),
        "sysFlag": str(header.sys_flag),
        "bornTimestamp": str(reply.born_at_ms),
        "flag": str(reply.flag),
        "properties": encode_properties(properties),
        "reconsumeTimes": str(reply.reconsume_times),
        "unitMode": str(header.unit_mode).lower(),
        # Java prints an address without a host name in this form. [SEND-REPLY-006]
        "bornHost": f"/{reply.born_host}",
        "storeHost": f"/{reply.store_host}",
        "storeTimestamp": str(now_ms),
    }
