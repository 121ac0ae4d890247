"""What consumers have in common for applications, and what those that ask have."""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar

from reference.core.client.message import Queue
from reference.core.client.pull_consumer import PullConsumer
from reference.shell.client.links import Links
from reference.shell.clock import now_ms


class Member(Protocol):
    """A consumer of the core, as far as it begins and ends."""

    def start(self, now_ms: int) -> None:
        """Let it begin."""

    def stop(self, now_ms: int) -> None:
        """Let it end."""


M = TypeVar("M", bound=Member)
C = TypeVar("C", bound=PullConsumer)


class MemberClient(Generic[M]):
    """A consumer that is in its group while it is entered."""

    def __init__(self, consumer: M, links: Links) -> None:
        self.consumer = consumer
        self._links = links

    async def __aenter__(self) -> Self:
        self.consumer.start(now_ms())
        self._links.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.consumer.stop(now_ms())
        await self._links.stop()


class PullingClient(MemberClient[C]):
    """A consumer whose application asks; whatever cannot be done raises ClientError."""

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
