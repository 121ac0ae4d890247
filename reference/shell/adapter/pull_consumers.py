"""The reference's pull consumers under test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic, TypeVar

from reference.core.client.options import LiteOptions, PullOptions
from reference.core.client.pull.pull_consumer import PULL_TIMEOUT_MS
from reference.core.client.pull.pull_request import PullStatus
from reference.core.client.pull.subscription import TAGS
from reference.shell.adapter.common import (
    NO_OFFSET,
    Line,
    UnsupportedError,
    client_id_of,
    line_of,
    queue_line,
    queue_of,
    split_options,
)
from reference.shell.client.pull_consumer import LitePullClient, PullClient

LITE_OPTIONS = {"pull_batch": "batch_size", "auto_commit": "auto_commits"}
STATUSES = {
    PullStatus.FOUND: "FOUND",
    PullStatus.NO_NEW_MESSAGE: "NO_NEW_MSG",
    PullStatus.NO_MATCHED_MESSAGE: "NO_MATCHED_MSG",
    PullStatus.OFFSET_ILLEGAL: "OFFSET_ILLEGAL",
}
AnyClient = TypeVar("AnyClient", bound=PullClient | LitePullClient)


class PullAdapter(Generic[AnyClient]):
    """Commands of both kinds of pull consumers."""

    def __init__(self, client: AnyClient) -> None:
        self._client = client
        self.verbs: dict[str, Callable[[Line], Awaitable[Line]]] = {
            "queues": self._queues,
            "offset": self._offset,
        }

    async def start(self) -> None:
        """Start the consumer."""
        await self._client.__aenter__()

    async def stop(self) -> None:
        """Stop the consumer."""
        await self._client.__aexit__()

    async def _queues(self, command: Line) -> Line:
        found = await self._client.queues(command["topic"])
        return {"queues": [queue_line(queue) for queue in found]}

    async def _offset(self, command: Line) -> Line:
        """Query the committed offset."""
        if command["which"] != "committed":
            raise UnsupportedError(f"no offset {command['which']}")
        found = await self._client.committed(queue_of(command["queue"]))
        return {"offset": str(NO_OFFSET if found is None else found)}


class AdaptedPullConsumer(PullAdapter[PullClient]):
    """A pull consumer."""

    def __init__(self, command: Line) -> None:
        if command.get("model", "clustering") != "clustering":
            raise UnsupportedError("a pull consumer keeps its offsets at brokers")
        _, periods = split_options(command.get("options", {}), {})
        options = PullOptions(
            group=command["group"], client_id=client_id_of(command), periods=periods
        )
        super().__init__(PullClient(command["namesrv"], options))
        self.verbs |= {"pull": self._pull, "commit": self._commit}

    async def _pull(self, command: Line) -> Line:
        found = await self._client.pull(
            queue_of(command["queue"]),
            command["expression"],
            offset=int(command["offset"]),
            count=command["count"],
            timeout_ms=command.get("timeout_ms", PULL_TIMEOUT_MS),
        )
        return {
            "status": STATUSES[found.status],
            "next_offset": str(found.next_offset),
            "min_offset": str(found.min_offset),
            "max_offset": str(found.max_offset),
            "messages": [line_of(message) for message in found.messages],
        }

    async def _offset(self, command: Line) -> Line:
        queue = queue_of(command["queue"])
        match command["which"]:
            case "min":
                found = await self._client.min_offset(queue)
            case "max":
                found = await self._client.max_offset(queue)
            case "search":
                time_ms = int(command["time_ms"])
                found = await self._client.search_offset(queue, time_ms)
            case _:
                return await super()._offset(command)
        return {"offset": str(found)}

    async def _commit(self, command: Line) -> Line:
        queue, offset = queue_of(command["queue"]), int(command["offset"])
        await self._client.commit(queue, offset)
        return {}


class AdaptedLiteConsumer(PullAdapter[LitePullClient]):
    """A lite pull consumer."""

    def __init__(self, command: Line, offset_folder: Path) -> None:
        own, periods = split_options(command.get("options", {}), LITE_OPTIONS)
        options = LiteOptions(
            group=command["group"],
            client_id=client_id_of(command),
            broadcasts=command.get("model") == "broadcasting",
            periods=periods,
            **own,
        )
        super().__init__(
            LitePullClient(command["namesrv"], options, offset_folder=offset_folder)
        )
        self._subscriptions = command.get("subscriptions", [])
        self.verbs |= {
            "commit": self._commit,
            "assign": self._assign,
            "poll": self._poll,
            "seek": self._seek,
            "pause": self._pause,
            "resume": self._resume,
        }

    async def start(self) -> None:
        """Start the consumer, and subscribe to the topics of its command."""
        await super().start()
        for one in self._subscriptions:
            self._client.subscribe(
                one["topic"],
                one.get("expression", "*"),
                expression_type=one.get("type", TAGS),
            )

    async def _assign(self, command: Line) -> Line:
        self._client.assign([queue_of(one) for one in command["queues"]])
        return {}

    async def _poll(self, command: Line) -> Line:
        found = await self._client.poll(command["timeout_ms"])
        return {"messages": [line_of(message) for message in found]}

    async def _seek(self, command: Line) -> Line:
        await self._client.seek(queue_of(command["queue"]), int(command["offset"]))
        return {}

    async def _pause(self, command: Line) -> Line:
        self._client.pause([queue_of(one) for one in command["queues"]])
        return {}

    async def _resume(self, command: Line) -> Line:
        self._client.resume([queue_of(one) for one in command["queues"]])
        return {}

    async def _commit(self, _command: Line) -> Line:
        await self._client.commit()
        return {}
