"""
Requests: messages whose producer waits for a reply, and the replies (since 4.6).

A request is an ordinary message that says who waits, and for which reply. A consumer
somewhere replies; its broker pushes the reply to the producer, over the connection on
which the producer has sent a heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from reference.core.answer import Answer, refusal
from reference.core.client.asking import Asker
from reference.core.client.call import Sent, Watch
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.inflating import inflated
from reference.core.client.message import Message, Mode
from reference.core.client.producer import Producer
from reference.core.request import FieldError, Request
from spec.client.requests import NO_REPLY_CODE, REPLY, REPLY_TOPIC_END
from spec.layout import LayoutError
from spec.store.message_record import SystemFlag
from spec.wire.properties import Property, decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

CREATE_REPLY_FAILED = 10007
"""What an application is told that replies to what is no request."""
NOT_YET = -1
"""The number of a call that has none yet."""

_KEPT = (Property.CORRELATION_ID, Property.REPLY_TO_CLIENT, Property.TTL)
"""The properties that a reply has of its request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What somebody replied to a request."""

    topic: str
    body: bytes
    properties: Mapping[str, str]


def reply_message(request: Mapping[str, str], body: bytes) -> Message:
    """Return the reply to the message with the properties *request*, to be sent.

    Raises ClientError unless they say, as a broker does, where replies go to.
    """
    cluster = request.get(Property.CLUSTER)
    if cluster is None:
        remark = "the message names no cluster: it is no request"
        raise ClientError(
            Failure(reason=Reason.ILLEGAL, code=CREATE_REPLY_FAILED, remark=remark)
        )
    kept: dict[str, str] = {n: request[n] for n in _KEPT if n in request}
    return Message(  # [CLIENT-REQUEST-013]
        topic=f"{cluster}{REPLY_TOPIC_END}",
        body=body,
        properties={**kept, Property.MSG_TYPE: REPLY},
    )


class Requests:
    """The requests of one producer that wait for replies."""

    def __init__(
        self,
        producer: Producer,
        client_id: str,
        *,
        asker: Asker,
        beat: Callable[[int], None],
    ) -> None:
        self._producer = producer
        self._client_id = client_id
        self._asker = asker
        self._beat = beat
        """Tells brokers that the client is there, so that a reply finds it."""
        self._waiting: dict[str, int] = {}
        """The calls that wait, by the ids of their requests."""
        asker.handlers[RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT] = self._take

    def request(self, message: Message, *, now_ms: int, timeout_ms: int) -> int:
        """Send *message*; return the number under which its Reply comes.

        Raises ClientError where it may not be sent at all.
        """
        own_id = self._producer.new_key(now_ms)
        properties = {  # [CLIENT-REQUEST-007]
            **message.properties,
            Property.CORRELATION_ID: own_id,
            Property.REPLY_TO_CLIENT: self._client_id,
            Property.TTL: str(timeout_ms),
        }
        failure = Failure(reason=Reason.NO_REPLY, code=NO_REPLY_CODE)

        def ended(number: int, result: Sent) -> None:
            if isinstance(result, ClientError):  # [CLIENT-REQUEST-011]
                self._waiting.pop(own_id, None)
                self._asker.finish(number, result)

        def is_over(_now_ms: int) -> None:
            number = self._waiting.pop(own_id, None)
            if number is not None:  # [CLIENT-REQUEST-010]
                self._asker.finish(number, ClientError(failure))

        self._waiting[own_id] = NOT_YET
        number = self._producer.send(
            replace(message, properties=properties),
            now_ms=now_ms,
            mode=Mode.ASYNC,
            timeout_ms=timeout_ms,
            watch=Watch(found_queues=self._beat, ended=ended),  # [CLIENT-REQUEST-012]
        )
        if own_id in self._waiting:
            self._waiting[own_id] = number
        self._asker.schedule.at(now_ms + timeout_ms, is_over)
        return number

    def _take(self, _address: str, request: Request, now_ms: int) -> Answer:
        """Hand a reply to who waits for it, if anybody does."""
        try:
            own_id, reply = _read(request, now_ms)
        except (FieldError, LayoutError):
            remark = "process reply message fail"
            return refusal(ResponseCode.SYSTEM_ERROR, remark)
        number = self._waiting.pop(own_id, None)
        if number is not None:
            self._asker.finish(number, reply)
        # [CLIENT-REQUEST-006]
        return Answer()


def _read(request: Request, now_ms: int) -> tuple[str, Reply]:
    """Return the id of the request that is replied to, and the reply."""
    properties = dict(decode_properties(request.optional_text("properties") or ""))
    properties[Property.ARRIVE_TIME] = str(now_ms)
    body, flags = bytes(request.body), request.int32("sysFlag")
    if flags & SystemFlag.COMPRESSED:
        with suppress(LayoutError):  # it is handed out as it came
            body = inflated(body, flags)
    reply = Reply(topic=request.text("topic"), body=body, properties=properties)
    return properties.get(Property.CORRELATION_ID, ""), reply
