"""What lines may ask of both kinds of pull consumers under test."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from reference.shell.client.adapted import queue_line
from reference.shell.client.lite_pull_consumer import LitePullClient
from reference.shell.client.pull_consumer import PullClient

Line = dict[str, Any]
C = TypeVar("C", bound=PullClient | LitePullClient)


class AdaptedReader(Generic[C]):
    """A consumer whose application asks, and what came of what it was told."""

    def __init__(self, client: C) -> None:
        self._client = client

    async def start(self) -> None:
        """Let it begin."""
        await self._client.__aenter__()

    async def stop(self) -> None:
        """Let it end."""
        await self._client.__aexit__()

    async def _queues(self, asked: Line) -> Line:
        found = await self._client.queues(asked["topic"])
        return {"queues": [queue_line(queue) for queue in found]}
