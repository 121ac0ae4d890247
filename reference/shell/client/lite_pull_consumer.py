"""
A lite pull consumer for applications: the core's decisions, with sockets and a clock.

    async with LitePullClient("127.0.0.1:9876", options) as consumer:
        consumer.subscribe("TopicTest")
        for message in await consumer.poll():
            print(message.body)
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from reference.core.client.asking import Asker
from reference.core.client.lite_pull_consumer import LitePullConsumer
from reference.core.client.lite_queue import LiteOptions
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from reference.core.client.subscription import TAGS
from reference.shell.client.links import Links, routes_from
from reference.shell.client.offset_file import OffsetFile
from reference.shell.client.pulling_client import PullingClient
from reference.shell.clock import now_ms
from spec.wire.heartbeat import ALL_MESSAGES

POLL_TIMEOUT_MS = 5000
"""Java: pollTimeoutMillis."""


class LitePullClient(PullingClient[LitePullConsumer]):
    """A consumer that is polled; whatever cannot be done raises ClientError.

    One that broadcasts keeps its offsets in *offset_folder*, or in the user's home.
    """

    def __init__(
        self,
        name_servers: str,
        options: LiteOptions,
        *,
        offset_folder: Path | None = None,
    ) -> None:
        asker = Asker()
        routes = routes_from(name_servers, asker, options.periods)
        file = OffsetFile(offset_folder, options.client_id, options.group)
        consumer = LitePullConsumer(
            options,
            asker=asker,
            routes=routes,
            remembered=file.read() if options.broadcasts else None,
        )
        super().__init__(consumer, Links(asker, remember=file.write))

    def subscribe(
        self,
        topic: str,
        expression: str = ALL_MESSAGES,
        *,
        expression_type: str = TAGS,
    ) -> None:
        """Share the queues of *topic* with the group."""
        self.consumer.subscribe(
            topic, expression, expression_type=expression_type, now_ms=now_ms()
        )
        self._links.perform()

    def unsubscribe(self, topic: str) -> None:
        """Read *topic* no more."""
        self.consumer.unsubscribe(topic, now_ms())
        self._links.perform()

    def assign(self, queues: Collection[Queue]) -> None:
        """Read exactly *queues*, whoever else does."""
        self.consumer.assign(queues, now_ms())
        self._links.perform()

    async def poll(self, timeout_ms: int = POLL_TIMEOUT_MS) -> tuple[Received, ...]:
        """Return what some queue had, none if nothing comes in time."""
        found = await self._links.call(lambda at: self.consumer.poll(timeout_ms, at))
        assert isinstance(found, tuple)
        return found

    async def seek(self, queue: Queue, offset: int) -> None:
        """Go on at *offset* of *queue*, and drop what was pulled of it."""
        await self._links.call(lambda at: self.consumer.seek(queue, offset, at))

    async def commit(self) -> None:
        """Commit what was polled so far."""
        await self._links.call(self.consumer.commit_polled)

    def pause(self, queues: Collection[Queue]) -> None:
        """Pull *queues* no more for now; what was pulled of them is polled still."""
        self.consumer.pause(queues)

    def resume(self, queues: Collection[Queue]) -> None:
        """Pull *queues* again, within a second."""
        self.consumer.pause(queues, is_paused=False)
