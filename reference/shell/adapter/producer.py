"""The reference producer under test."""

from __future__ import annotations

import base64
from operator import itemgetter

from reference.core.client.message import Message, Mode, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.request_reply import reply_message
from reference.core.client.producer.transaction import LocalTransactionState
from reference.core.client.pull.message_ext import MessageExt
from reference.shell.adapter.common import (
    AdaptedClient,
    Emit,
    Line,
    UnsupportedError,
    line_of,
    message_of,
    options_of,
    queue_line,
    tls_of,
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


class AdaptedProducer(AdaptedClient):
    """A producer and its transaction states."""

    def __init__(self, command: Line, emit: Emit) -> None:
        self._check_state = command.get("options", {}).get("check", "unknown")
        options = ProducerOptions(**options_of(command, OPTIONS, "check"))
        self._client = ProducerClient(
            command["namesrv"], options, check=self._check, tls=tls_of(command)
        )
        super().__init__(command, self._client, emit)

    async def run(self, command: Line) -> Line:
        """Send a message, a request or a reply."""
        match command["verb"]:
            case "send":
                return await self._send(command)
            case "request":
                message = message_of(command["message"])
                timeout_ms = command["timeout_ms"]
                reply = await self._client.request(message, timeout_ms=timeout_ms)
                return {"reply": _reply_line(reply)}
            case "reply":
                body = base64.b64decode(command["body"])
                message = reply_message(command["properties"], body)
                return _result_line(await self._client.send(message), message)
            case _:
                return await super().run(command)

    async def _send(self, command: Line) -> Line:
        """Send a message, a batch or a transactional message."""
        if "transaction" in command:
            message = message_of(command["message"])
            return await self._send_in_transaction(message, command["transaction"])
        batch = [message_of(one) for one in command.get("messages", ())]
        single = message_of(command["message"]) if "message" in command else None
        place: int | None = command.get("select")
        result = await self._client.send(
            single or batch,
            mode=Mode(command["mode"]),
            selector=None if place is None else itemgetter(place),
            timeout_ms=command.get("timeout_ms"),
        )
        return _result_line(result, single)

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


def _reply_line(reply: Message) -> Line:
    return {
        "topic": reply.topic,
        "body": base64.b64encode(reply.body).decode(),
        "properties": {str(name): one for name, one in reply.properties.items()},
    }


def _result_line(result: SendResult | None, message: Message | None = None) -> Line:
    if result is None:
        return {}
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
