"""
Request and reply: messages whose producer waits for another message (since 4.6.0).

A request has the sender's client id and a correlation id. A consumer sends a reply,
which its broker pushes to the requesting client. The broker finds this client by its
heartbeat (Java: RequestFutureTable, ClientRemotingProcessor).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import Message, Mode
from reference.core.client.producer.producer import Producer
from reference.core.client.pull.message_ext import decompress
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.tasks import Wait, start
from reference.core.remoting.request import FieldError, Request
from reference.core.remoting.response import Response
from spec.client.requests import NO_REPLY_CODE, REPLY
from spec.layout import LayoutError
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import REPLY_TOPIC_POSTFIX
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CREATE_REPLY_FAILED = 10007
"""Error code of a reply to a message that is not a request."""
_KEPT = (Property.CORRELATION_ID, Property.REPLY_TO_CLIENT, Property.TTL)
"""Properties copied from a request to its reply."""


def reply_message(request: Mapping[str, str], body: bytes) -> Message:
    """Build the reply to a message with the properties *request*.

    Raises ClientError without CLUSTER, which brokers add to a request.
    """
    cluster = request.get(Property.CLUSTER)
    if cluster is None:
        remark = "the message has no CLUSTER property: it is not a request"
        raise ClientError(
            Failure(reason=Reason.ILLEGAL, code=CREATE_REPLY_FAILED, remark=remark)
        )
    kept: dict[str, str] = {n: request[n] for n in _KEPT if n in request}
    return Message(  # [CLIENT-REQUESTREPLY-007]
        topic=f"{cluster}{REPLY_TOPIC_POSTFIX}",
        body=body,
        properties={**kept, Property.MSG_TYPE: REPLY},
    )


class RequestReplyService:
    """Requests of one producer without reply."""

    def __init__(self, producer: Producer, client: ClientInstance) -> None:
        self._producer = producer
        self._client_id = client.client_id
        self._rpc = client.rpc
        self._waiting: dict[str, Wait[Message | ClientError]] = {}
        """Requests without a reply by correlation id."""
        client.rpc.handlers[RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT] = self._on_reply

    async def request(self, message: Message, *, timeout_ms: int) -> Message:
        """Send *message* and return its reply; raise ClientError without one."""
        correlation_id = self._producer.unique_ids.next_id(self._rpc.now_ms())
        properties = {  # [CLIENT-REQUESTREPLY-002]
            **message.properties,
            Property.CORRELATION_ID: correlation_id,
            Property.REPLY_TO_CLIENT: self._client_id,
            Property.TTL: str(timeout_ms),
        }
        wait = self._waiting[correlation_id] = Wait[Message | ClientError]()

        async def send() -> None:
            try:
                await self._producer.send(  # [CLIENT-REQUESTREPLY-006]
                    replace(message, properties=properties),
                    mode=Mode.ASYNC,
                    timeout_ms=timeout_ms,
                    on_route=self._producer.send_heartbeats,
                )
            except ClientError as error:  # [CLIENT-REQUESTREPLY-005]
                self._end(correlation_id, error)

        start(send())
        no_reply = ClientError(Failure(reason=Reason.NO_REPLY, code=NO_REPLY_CODE))
        # [CLIENT-REQUESTREPLY-004]
        self._rpc.call_later(timeout_ms, partial(self._end, correlation_id, no_reply))
        result = await wait
        if isinstance(result, ClientError):
            raise result
        return result

    def _end(self, correlation_id: str, result: Message | ClientError) -> None:
        wait = self._waiting.pop(correlation_id, None)
        if wait is not None:
            wait.end(result)

    def _on_reply(self, _: str, request: Request) -> Response:
        try:
            correlation_id, reply = _decoded(request, self._rpc.now_ms())
        except (FieldError, LayoutError):
            remark = "process reply message fail"
            return Response(ResponseCode.SYSTEM_ERROR, remark)
        self._end(correlation_id, reply)
        return Response()  # [CLIENT-REQUESTREPLY-001]


def _decoded(request: Request, now_ms: int) -> tuple[str, Message]:
    """Decode PUSH_REPLY_MESSAGE_TO_CLIENT: the correlation id and the reply."""
    properties = dict(decode_properties(request.optional_text("properties") or ""))
    properties[Property.ARRIVE_TIME] = str(now_ms)
    body, flags = bytes(request.body), request.int32("sysFlag")
    if flags & SystemFlag.COMPRESSED:
        with suppress(LayoutError):  # the body stays compressed
            body = decompress(body, flags)
    reply = Message(topic=request.text("topic"), body=body, properties=properties)
    return properties.get(Property.CORRELATION_ID, ""), reply
