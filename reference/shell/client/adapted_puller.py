"""The reference's pull consumer under test: what lines ask of it, and what it finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reference.core.client.pull_consumer import PULL_TIMEOUT_MS, PullOptions
from reference.core.client.pulling import PullStatus
from reference.shell.client.adapted import (
    NEVER,
    UnsupportedError,
    line_of,
    own_id,
    queue_of,
    split_options,
)
from reference.shell.client.adapted_reader import AdaptedReader, Line
from reference.shell.client.pull_consumer import PullClient

STATUSES = {
    PullStatus.FOUND: "FOUND",
    PullStatus.NO_NEW_MESSAGE: "NO_NEW_MSG",
    PullStatus.NO_MATCHED_MESSAGE: "NO_MATCHED_MSG",
    PullStatus.OFFSET_ILLEGAL: "OFFSET_ILLEGAL",
}


class AdaptedPuller(AdaptedReader[PullClient]):
    """A pull consumer, and what came of what it was told."""

    def __init__(self, asked: Line) -> None:
        if asked.get("model", "clustering") != "clustering":
            raise UnsupportedError("a pull consumer keeps its offsets at brokers")
        _, periods = split_options(asked.get("options", {}), {})
        options = PullOptions(
            group=asked["group"], client_id=own_id(asked), periods=periods
        )
        super().__init__(PullClient(asked["namesrv"], options))
        self.verbs: dict[str, Callable[[Line], Awaitable[Line]]] = {
            "queues": self._queues,
            "pull": self._pull,
            "offset": self._offset,
            "commit": self._commit,
        }

    async def _pull(self, asked: Line) -> Line:
        found = await self._client.pull(
            queue_of(asked["queue"]),
            asked["expression"],
            offset=int(asked["offset"]),
            count=asked["count"],
            timeout_ms=asked.get("timeout_ms", PULL_TIMEOUT_MS),
        )
        return {
            "status": STATUSES[found.status],
            "next_offset": str(found.next_offset),
            "min_offset": str(found.min_offset),
            "max_offset": str(found.max_offset),
            "messages": [line_of(message) for message in found.messages],
        }

    async def _offset(self, asked: Line) -> Line:
        queue, which = queue_of(asked["queue"]), asked["which"]
        found: int | None
        if which == "min":
            found = await self._client.first_offset(queue)
        elif which == "max":
            found = await self._client.end_offset(queue)
        elif which == "search":
            found = await self._client.offset_at(queue, int(asked["time_ms"]))
        elif which == "committed":
            found = await self._client.committed(queue)
        else:
            raise UnsupportedError(f"no offset {which}")
        return {"offset": str(NEVER if found is None else found)}

    async def _commit(self, asked: Line) -> Line:
        await self._client.commit(queue_of(asked["queue"]), int(asked["offset"]))
        return {}
