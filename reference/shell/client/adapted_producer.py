"""The reference producer under test: what lines say of it, and what it answers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from reference.core.client.call import Selector
from reference.core.client.message import Message, Mode, Queue, SendResult
from reference.core.client.producer import ProducerOptions
from reference.core.client.pulling import Received
from reference.core.client.replies import reply_message
from reference.core.client.transactions import Decision
from reference.shell.client.adapted import (
    UnsupportedError,
    line_of,
    message_of,
    own_id,
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
    """A producer, and what came of what it was told."""

    def __init__(
        self, asked: dict[str, Any], tell: Callable[[dict[str, Any]], None]
    ) -> None:
        given = dict(asked.get("options", {}))
        self._check = given.pop("check", "unknown")
        own, periods = split_options(given, OPTIONS)
        self._name = asked["name"]
        self._tell = tell
        self._client = ProducerClient(
            asked["namesrv"],
            ProducerOptions(group=asked["group"], periods=periods, **own),
            check=self._asked,
            own_id=own_id(asked),
        )

    async def start(self) -> None:
        """Let the producer begin."""
        await self._client.__aenter__()

    async def stop(self) -> None:
        """Let the producer end."""
        await self._client.__aexit__()

    async def send(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Send what a line says, and return the line's result."""
        timeout_ms = asked.get("timeout_ms")
        selector = _selector(asked["select"]) if "select" in asked else None
        if "messages" in asked:
            messages = [message_of(one) for one in asked["messages"]]
            sent = await self._client.send_batch(
                messages, selector=selector, timeout_ms=timeout_ms
            )
            return _told(sent)
        message = message_of(asked["message"])
        if "transaction" in asked:
            return await self._send_in_transaction(message, asked["transaction"])
        result = await self._client.send(
            message,
            mode=Mode(asked["mode"]),
            selector=selector,
            timeout_ms=timeout_ms,
        )
        return {} if result is None else _told(result, message)

    async def request(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Send the request that a line says, and return the reply as its result."""
        message = message_of(asked["message"])
        reply = await self._client.request(message, timeout_ms=asked["timeout_ms"])
        told = {
            "topic": reply.topic,
            "body": base64.b64encode(reply.body).decode(),
            "properties": {str(name): one for name, one in reply.properties.items()},
        }
        return {"reply": told}

    async def reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Reply to the message of these properties, as a line says."""
        body = base64.b64decode(asked["body"])
        reply = reply_message(asked["properties"], body)
        sent = await self._client.send(reply)
        assert sent is not None, "a synchronous send has a result"
        return _told(sent, reply)

    async def _send_in_transaction(
        self, message: Message, outcome: str
    ) -> dict[str, Any]:
        def act() -> Decision:
            self._tell({"event": "local", "producer": self._name})
            return _decision(outcome)

        result, decision = await self._client.send_in_transaction(message, act)
        return {**_told(result, message), "state": decision.name.lower()}

    def _asked(self, half: Received) -> Decision:
        event = {"event": "check", "producer": self._name, "message": line_of(half)}
        self._tell(event)
        return _decision(self._check)


class ApplicationError(Exception):
    """What an application throws that was told to fail."""


def _decision(word: str) -> Decision:
    if word == "fail":
        raise ApplicationError("told to fail")
    if word.upper() not in Decision.__members__:
        raise UnsupportedError(f"no decision {word}")
    return Decision[word.upper()]


def _selector(place: int) -> Selector:
    def select(queues: Sequence[Queue]) -> Queue:
        return queues[place]

    return select


def _told(result: SendResult, message: Message | None = None) -> dict[str, Any]:
    told = {
        "status": str(result.status),
        "message_id": result.message_id,
        "offset_message_id": result.offset_message_id,
        "topic": result.queue.topic,
        "broker": result.queue.broker_name,
        "queue_id": result.queue.queue_id,
        "queue_offset": str(result.queue_offset),
    }
    if message is not None:
        told["body_after"] = base64.b64encode(message.body).decode()
    return told
