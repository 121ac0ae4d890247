"""The reference's lite pull consumer under test: what lines ask of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from reference.core.client.lite_queue import LiteOptions
from reference.core.client.subscription import TAGS
from reference.shell.client.adapted import (
    NEVER,
    UnsupportedError,
    line_of,
    own_id,
    queue_of,
    split_options,
)
from reference.shell.client.adapted_reader import AdaptedReader, Line
from reference.shell.client.lite_pull_consumer import LitePullClient

OPTIONS = {"pull_batch": "batch_size", "auto_commit": "auto_commits"}


class AdaptedPoller(AdaptedReader[LitePullClient]):
    """A lite pull consumer, and what came of what it was told."""

    def __init__(self, asked: Line, offset_folder: Path) -> None:
        own, periods = split_options(asked.get("options", {}), OPTIONS)
        options = LiteOptions(
            group=asked["group"],
            client_id=own_id(asked),
            broadcasts=asked.get("model") == "broadcasting",
            periods=periods,
            **own,
        )
        super().__init__(
            LitePullClient(asked["namesrv"], options, offset_folder=offset_folder)
        )
        self._subscriptions = asked.get("subscriptions", [])
        self.verbs: dict[str, Callable[[Line], Awaitable[Line]]] = {
            "queues": self._queues,
            "assign": self._assign,
            "poll": self._poll,
            "seek": self._seek,
            "pause": self._pause,
            "resume": self._resume,
            "commit": self._commit,
            "offset": self._offset,
        }

    async def start(self) -> None:
        """Let it begin, and subscribe to what it was made for."""
        await super().start()
        for one in self._subscriptions:
            self._client.subscribe(
                one["topic"],
                one.get("expression", "*"),
                expression_type=one.get("type", TAGS),
            )

    async def _assign(self, asked: Line) -> Line:
        self._client.assign([queue_of(told) for told in asked["queues"]])
        return {}

    async def _poll(self, asked: Line) -> Line:
        found = await self._client.poll(asked["timeout_ms"])
        return {"messages": [line_of(message) for message in found]}

    async def _seek(self, asked: Line) -> Line:
        await self._client.seek(queue_of(asked["queue"]), int(asked["offset"]))
        return {}

    async def _pause(self, asked: Line) -> Line:
        self._client.pause([queue_of(told) for told in asked["queues"]])
        return {}

    async def _resume(self, asked: Line) -> Line:
        self._client.resume([queue_of(told) for told in asked["queues"]])
        return {}

    async def _commit(self, _asked: Line) -> Line:
        await self._client.commit()
        return {}

    async def _offset(self, asked: Line) -> Line:
        if asked["which"] != "committed":
            raise UnsupportedError(f"no offset {asked['which']}")
        found = await self._client.committed(queue_of(asked["queue"]))
        return {"offset": str(NEVER if found is None else found)}
