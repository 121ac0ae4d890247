"""What pull consumers and lite ones have in common for applications."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from reference.core.client.message import Queue
from reference.core.client.pull_consumer import PullConsumer
from reference.shell.client.links import Links
from reference.shell.clock import now_ms

C = TypeVar("C", bound=PullConsumer)


class PullingClient(Generic[C]):
    """A consumer whose application asks; whatever cannot be done raises ClientError."""

    def __init__(self, consumer: C, links: Links) -> None:
        self.consumer = consumer
        self._links = links

    async def __aenter__(self) -> Self:
        self.consumer.start(now_ms())
        self._links.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.consumer.stop(now_ms())
        await self._links.stop()

    async def queues(self, topic: str) -> tuple[Queue, ...]:
        """Return the queues of *topic* that may be read, sorted."""
        found = await self._links.call(lambda at: self.consumer.queues(topic, at))
        assert isinstance(found, tuple)
        return found

    async def committed(self, queue: Queue) -> int | None:
        """Return how far the group has come in *queue*; None where it was never."""
        found = await self._links.call(lambda at: self.consumer.committed(queue, at))
        assert found is None or isinstance(found, int)
        return found
