"""The reference's pull consumers under test."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions, PullOptions
from reference.core.client.pull.pull_consumer import PULL_TIMEOUT_MS
from reference.shell.adapter.common import (
    NO_OFFSET,
    AdaptedClient,
    Emit,
    Line,
    UnsupportedError,
    line_of,
    options_of,
    queue_line,
    queue_of,
    tls_of,
)
from reference.shell.client.consumers import LitePullClient, PullClient
from spec.wire.bodies.heartbeat import TAG

LITE_OPTIONS = {"pull_batch": "batch_size", "auto_commit": "auto_commits"}


class AdaptedPullConsumer(AdaptedClient):
    """A pull consumer."""

    def __init__(self, command: Line, emit: Emit) -> None:
        if command.get("model", "clustering") != "clustering":
            raise UnsupportedError("a pull consumer keeps its offsets at brokers")
        options = PullOptions(**options_of(command, {}))
        self._client = PullClient(command["namesrv"], options, tls=tls_of(command))
        super().__init__(command, self._client, emit)

    async def run(self, command: Line) -> Line:
        """Pull, commit, or query queues and offsets."""
        match command["verb"]:
            case "queues":
                return _queues_line(await self._client.queues(command["topic"]))
            case "offset":
                return _offset_line(await self._offset(command))
            case "pull":
                return await self._pull(command)
            case "commit":
                queue, offset = queue_of(command["queue"]), int(command["offset"])
                await self._client.commit(queue, offset)
                return {}
            case _:
                return await super().run(command)

    async def _pull(self, command: Line) -> Line:
        found = await self._client.pull(
            queue_of(command["queue"]),
            command["expression"],
            offset=int(command["offset"]),
            count=command["count"],
            timeout_ms=command.get("timeout_ms", PULL_TIMEOUT_MS),
        )
        return {
            "status": found.status.name,
            "next_offset": str(found.next_offset),
            "min_offset": str(found.min_offset),
            "max_offset": str(found.max_offset),
            "messages": [line_of(message) for message in found.messages],
        }

    async def _offset(self, command: Line) -> int | None:
        queue = queue_of(command["queue"])
        match command["which"]:
            case "min":
                return await self._client.min_offset(queue)
            case "max":
                return await self._client.max_offset(queue)
            case "search":
                time_ms = int(command["time_ms"])
                return await self._client.search_offset(queue, time_ms)
            case _:
                return await _committed(self._client, command)


class AdaptedLiteConsumer(AdaptedClient):
    """A lite pull consumer."""

    def __init__(self, command: Line, emit: Emit, offset_folder: Path) -> None:
        options = LiteOptions(
            broadcasts=command.get("model") == "broadcasting",
            **options_of(command, LITE_OPTIONS),
        )
        self._client = LitePullClient(
            command["namesrv"],
            options,
            offset_folder=offset_folder,
            tls=tls_of(command),
        )
        self._subscriptions = command.get("subscriptions", [])
        super().__init__(command, self._client, emit)

    async def start(self) -> None:
        """Start the consumer, and subscribe to the topics of its command."""
        await super().start()
        for one in self._subscriptions:
            self._client.subscribe(
                one["topic"],
                one.get("expression", "*"),
                expression_type=one.get("type", TAG),
            )

    async def run(self, command: Line) -> Line:
        """Poll, commit, seek, pause, or query queues and offsets."""
        client = self._client
        queues = [queue_of(one) for one in command.get("queues", [])]
        match command["verb"]:
            case "queues":
                return _queues_line(await client.queues(command["topic"]))
            case "offset":
                return _offset_line(await _committed(client, command))
            case "poll":
                found = await client.poll(command["timeout_ms"])
                return {"messages": [line_of(message) for message in found]}
            case "commit":
                await client.commit()
            case "assign":
                client.assign(queues)
            case "seek":
                await client.seek(queue_of(command["queue"]), int(command["offset"]))
            case "pause":
                client.pause(queues)
            case "resume":
                client.resume(queues)
            case _:
                return await super().run(command)
        return {}


async def _committed(client: PullClient | LitePullClient, command: Line) -> int | None:
    if command["which"] != "committed":
        raise UnsupportedError(f"no offset {command['which']}")
    return await client.committed(queue_of(command["queue"]))


def _queues_line(queues: Iterable[MessageQueue]) -> Line:
    return {"queues": [queue_line(queue) for queue in queues]}


def _offset_line(offset: int | None) -> Line:
    return {"offset": str(NO_OFFSET if offset is None else offset)}
