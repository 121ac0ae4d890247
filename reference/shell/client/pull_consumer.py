"""
A pull consumer for applications: the core's decisions, with sockets and a clock.

    async with PullClient("127.0.0.1:9876", options) as consumer:
        for queue in await consumer.queues("TopicTest"):
            found = await consumer.pull(queue, offset=0, count=32)
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.asking import Asker
from reference.core.client.message import Queue
from reference.core.client.pull_consumer import (
    PULL_TIMEOUT_MS,
    PullConsumer,
    PullOptions,
)
from reference.core.client.pulling import Pulled
from reference.shell.client.links import Links, routes_from
from reference.shell.client.pulling_client import PullingClient
from spec.wire.heartbeat import ALL_MESSAGES


class PullClient(PullingClient[PullConsumer]):
    """A consumer that reads what it is asked for; every question raises ClientError."""

    def __init__(self, name_servers: str, options: PullOptions) -> None:
        asker = Asker()
        routes = routes_from(name_servers, asker, options.periods)
        consumer = PullConsumer(options, asker=asker, routes=routes)
        super().__init__(consumer, Links(asker))

    async def pull(
        self,
        queue: Queue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> Pulled:
        """Return what *queue* has now from *offset* on, *count* messages at most."""
        found = await self._links.call(
            lambda at: self.consumer.pull(
                queue,
                expression,
                offset=offset,
                count=count,
                now_ms=at,
                timeout_ms=timeout_ms,
            )
        )
        assert isinstance(found, Pulled)
        return found

    async def first_offset(self, queue: Queue) -> int:
        """Return the offset of the first message that *queue* has."""
        return await self._offset(lambda at: self.consumer.first_offset(queue, at))

    async def end_offset(self, queue: Queue) -> int:
        """Return the offset that the next message of *queue* will have."""
        return await self._offset(lambda at: self.consumer.end_offset(queue, at))

    async def offset_at(self, queue: Queue, time_ms: int) -> int:
        """Return the offset of the message of *queue* that was stored at a time."""
        return await self._offset(
            lambda at: self.consumer.offset_at(queue, time_ms, at)
        )

    async def commit(self, queue: Queue, offset: int) -> None:
        """Tell that the group has handled everything before *offset*."""
        await self._links.call(lambda at: self.consumer.commit(queue, offset, at))

    async def _offset(self, begin: Callable[[int], int]) -> int:
        found = await self._links.call(begin)
        assert isinstance(found, int)
        return found
