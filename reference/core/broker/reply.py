"""
Replies: a message that goes to one client at once, without waiting to be pulled.

The broker passes it on to the client whose request it answers, and answers who sent
it when that client has. It also stores it, for whoever wants to look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, encode_call
from reference.core.broker.acknowledgement import acknowledge
from reference.core.broker.clients import Client
from reference.core.broker.send import (
    LETTERS,
    SPELT_OUT,
    Names,
    check_send,
    new_message,
)
from reference.core.request import Request
from reference.core.store.api import NewMessage
from spec.wire.properties import Property, decode_properties, encode_properties
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

PATIENCE_MS = 10_000
"""For how long the client may take to answer."""


def send_reply(broker: Broker, request: Request) -> Answer | None:
    """Pass a reply on to its client; answer when that has answered."""
    spelt_out = request.code == RequestCode.SEND_REPLY_MESSAGE
    names = SPELT_OUT if spelt_out else LETTERS
    topic, refused = check_send(broker, request, names)
    if topic is None:
        return refused
    queue_id = request.int32(names.queue_id)
    if queue_id < 0:
        queue_id = broker.next_number() % topic.write_queue_count
    message = new_message(broker, request, names, topic=topic, queue_id=queue_id)
    reply = Reply(broker, request, message)
    name = decode_properties(message.properties).get(Property.REPLY_TO_CLIENT)
    if name is None:
        return reply.answer("reply message properties[REPLY_TO_CLIENT] is null")
    client = broker.clients.producer(name)
    if client is None:
        return reply.answer(f"push reply message fail, channel of <{name}> not found.")
    reply.push(client, names)
    return None


class Reply:
    """One reply on its way."""

    def __init__(self, broker: Broker, request: Request, message: NewMessage) -> None:
        self._broker = broker
        self._request = request
        self._message = message
        self._is_over = False

    def push(self, client: Client, names: Names) -> None:
        """Pass the reply on, and wait for the client, but not for ever."""
        failure = f"push reply message to {client.client_id}fail."

        def heard(response: Request) -> None:
            self._end(None if response.code == 0 else failure)

        fields = self._fields(names)
        number = self._broker.expect(heard)
        call = encode_call(
            RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,  # [SEND-REPLY-001]
            fields,
            self._message.body,
            opaque=number,
        )
        self._broker.send(client.connection, call)
        overdue_ms = self._request.now_ms + PATIENCE_MS
        self._broker.schedule.at(overdue_ms, lambda _: self._end(failure))

    def answer(self, failure: str | None) -> Answer | None:
        """Store the reply; return the answer to who sent it, or send it later."""
        broker, message = self._broker, self._message
        fields: dict[str, object] = {
            "MSG_REGION": broker.options.region,
            "TRACE_ON": broker.options.is_traced,
        }
        if failure is None:  # [SEND-REPLY-003]
            fields |= {"msgId": "0", "queueId": message.queue_id, "queueOffset": 0}
        result = None
        if broker.options.truth("storeReplyMessageEnable"):  # [SEND-REPLY-005]
            result = broker.store.put(message, self._request.now_ms)
            broker.stored(result)
            if result.is_stored:
                fields["msgId"] = result.message_id
                fields["queueId"] = message.queue_id
                fields["queueOffset"] = result.queue_offset
        # [SEND-REPLY-004]
        answer = Answer(0 if failure is None else SYSTEM_ERROR, failure, fields)
        if result is None:
            return answer
        return acknowledge(
            broker, self._request, message, result=result, answer=lambda _: answer
        )

    def _end(self, failure: str | None) -> None:
        if not self._is_over:
            self._is_over = True
            answer = self.answer(failure)
            if answer is not None:
                self._broker.answer_later(self._request, answer)
            self._broker.settle(self._request.now_ms)

    def _fields(self, names: Names) -> dict[str, str]:
        """Return the header fields of the reply as its client gets it."""
        message, request = self._message, self._request
        properties = decode_properties(message.properties)
        properties[Property.PUSH_REPLY_TIME] = str(request.now_ms)
        group = "producerGroup" if names is SPELT_OUT else "a"
        return {  # [SEND-REPLY-002]
            "producerGroup": request.text(group),
            "topic": message.topic,
            "defaultTopic": request.text(names.default_topic),
            "defaultTopicQueueNums": request.text(names.default_queue_count),
            "queueId": str(message.queue_id),
            "sysFlag": str(message.system_flags),
            "bornTimestamp": str(message.born_at_ms),
            "flag": str(message.flag),
            "properties": encode_properties(properties),
            "reconsumeTimes": str(message.reconsume_times),
            "unitMode": "false",
            # Java prints an address that has no name so. [SEND-REPLY-006]
            "bornHost": f"/{message.born_host}",
            "storeHost": f"/{message.store_host}",
            "storeTimestamp": str(request.now_ms),
        }
