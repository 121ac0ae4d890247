"""The reference producer under test."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from reference.core.client.message import Message, MessageQueue, Mode, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.request_reply import reply_message
from reference.core.client.producer.send_call import Selector
from reference.core.client.producer.transaction import LocalTransactionState
from reference.core.client.pull.message_ext import MessageExt
from reference.shell.adapter.common import (
    Line,
    UnsupportedError,
    client_id_of,
    line_of,
    message_of,
    queue_line,
    split_options,
)
from reference.shell.client.producer import ProducerClient

OPTIONS = {
    "send_timeout_ms": "timeout_ms",
    "retries": "retry_count",
    "async_retries": "async_retry_count",
    "retry_not_stored": "retries_not_stored",
    "latency": "avoids_slow_brokers",
    "vip": "uses_vip_port",
    "default_queue_count": "queue_count",
    "compress_over": "compress_from",
    "max_message_size": "body_size_max",
}


class AdaptedProducer:
    """A producer and its transaction states."""

    def __init__(self, command: Line, emit: Callable[[Line], None]) -> None:
        given = dict(command.get("options", {}))
        self._check_state = given.pop("check", "unknown")
        own, periods = split_options(given, OPTIONS)
        self._name = command["name"]
        self._emit = emit
        self._client = ProducerClient(
            command["namesrv"],
            ProducerOptions(
                group=command["group"],
                client_id=client_id_of(command),
                periods=periods,
                **own,
            ),
            check=self._check,
        )

    async def start(self) -> None:
        """Start the producer."""
        await self._client.__aenter__()

    async def stop(self) -> None:
        """Stop the producer."""
        await self._client.__aexit__()

    async def send(self, command: Line) -> Line:
        """Send a message, a batch or a transactional message."""
        timeout_ms = command.get("timeout_ms")
        selector = _selector(command["select"]) if "select" in command else None
        if "messages" in command:
            messages = [message_of(one) for one in command["messages"]]
            sent = await self._client.send_batch(
                messages, selector=selector, timeout_ms=timeout_ms
            )
            return _result_line(sent)
        message = message_of(command["message"])
        if "transaction" in command:
            return await self._send_in_transaction(message, command["transaction"])
        result = await self._client.send(
            message,
            mode=Mode(command["mode"]),
            selector=selector,
            timeout_ms=timeout_ms,
        )
        return {} if result is None else _result_line(result, message)

    async def request(self, command: Line) -> Line:
        """Send a request and return its reply."""
        message = message_of(command["message"])
        reply = await self._client.request(message, timeout_ms=command["timeout_ms"])
        line = {
            "topic": reply.topic,
            "body": base64.b64encode(reply.body).decode(),
            "properties": {str(name): one for name, one in reply.properties.items()},
        }
        return {"reply": line}

    async def reply(self, command: Line) -> Line:
        """Send a reply to the message of given properties."""
        body = base64.b64decode(command["body"])
        reply = reply_message(command["properties"], body)
        sent = await self._client.send(reply)
        assert sent is not None, "a synchronous send has a result"
        return _result_line(sent, reply)

    async def _send_in_transaction(self, message: Message, outcome: str) -> Line:
        def act() -> LocalTransactionState:
            self._emit({"event": "local", "producer": self._name})
            return _state(outcome)

        result, state = await self._client.send_in_transaction(message, act)
        return {**_result_line(result, message), "state": state.name.lower()}

    def _check(self, half: MessageExt) -> LocalTransactionState:
        line = line_of(half)
        self._emit({"event": "check", "producer": self._name, "message": line})
        return _state(self._check_state)


class ApplicationError(Exception):
    """An application's exception, raised on command."""


def _state(word: str) -> LocalTransactionState:
    if word == "fail":
        raise ApplicationError("failed on command")
    if word.upper() not in LocalTransactionState.__members__:
        raise UnsupportedError(f"no transaction state {word}")
    return LocalTransactionState[word.upper()]


def _selector(place: int) -> Selector:
    def select(queues: Sequence[MessageQueue]) -> MessageQueue:
        return queues[place]

    return select


def _result_line(result: SendResult, message: Message | None = None) -> Line:
    line = {
        **queue_line(result.queue),
        "status": str(result.status),
        "message_id": result.message_id,
        "offset_message_id": result.offset_message_id,
        "queue_offset": str(result.queue_offset),
    }
    if message is not None:
        line["body_after"] = base64.b64encode(message.body).decode()
    return line
