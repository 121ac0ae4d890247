"""
Pull consumers for applications; a call that fails raises ClientError.

    async with PullClient("127.0.0.1:9876", options) as consumer:
        for queue in await consumer.queues("TopicTest"):
            found = await consumer.pull(queue, offset=0, count=32)
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from reference.core.client.lite.lite_pull_consumer import LitePullConsumer
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions, PullOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PULL_TIMEOUT_MS, PullConsumer
from reference.core.client.pull.pull_request import PullResult
from reference.core.client.pull.subscription import TAGS
from reference.core.client.remoting import requests
from reference.shell.client.client_host import ClientHost, RunningClient
from reference.shell.clock import now_ms
from spec.wire.bodies.heartbeat import ALL_MESSAGES
from spec.wire.remoting.command import Command

POLL_TIMEOUT_MS = 5000
"""Java: pollTimeoutMillis."""
AnyPullConsumer = TypeVar("AnyPullConsumer", bound=PullConsumer)


class PullingClient(RunningClient[AnyPullConsumer]):
    """Calls of both pull consumers."""

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the readable queues of *topic*, sorted."""
        return await self._host.call(lambda at: self.core.queues(topic, at))

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's committed offset, or None without any."""
        return await self._host.call(lambda at: self.core.committed(queue, at))


class PullClient(PullingClient[PullConsumer]):
    """A consumer that pulls on demand."""

    def __init__(self, name_servers: str, options: PullOptions) -> None:
        host = ClientHost(name_servers, options)
        super().__init__(PullConsumer(options, host.client), host)

    async def pull(
        self,
        queue: MessageQueue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> PullResult:
        """Pull up to *count* messages from *offset*."""
        return await self._host.call(
            lambda at: self.core.pull(
                queue,
                expression,
                offset=offset,
                count=count,
                now_ms=at,
                timeout_ms=timeout_ms,
            )
        )

    async def min_offset(self, queue: MessageQueue) -> int:
        """Return the offset of the first message of *queue*."""
        return await self._offset(queue, requests.get_min_offset(queue))

    async def max_offset(self, queue: MessageQueue) -> int:
        """Return the offset after the last message of *queue*."""
        return await self._offset(queue, requests.get_max_offset(queue))

    async def search_offset(self, queue: MessageQueue, time_ms: int) -> int:
        """Return the offset of the message stored at *time_ms*."""
        return await self._offset(queue, requests.search_offset(queue, time_ms))

    async def _offset(self, queue: MessageQueue, request: Command) -> int:
        return await self._host.call(
            lambda at: self.core.query_offset(queue, request, at)
        )

    async def commit(self, queue: MessageQueue, offset: int) -> None:
        """Commit *offset* for the group."""
        await self._host.call(lambda at: self.core.commit(queue, offset, at))


class LitePullClient(PullingClient[LitePullConsumer]):
    """A consumer that pulls ahead and is polled.

    A broadcasting one persists its offsets in *offset_folder*, by default in the
    user's home.
    """

    def __init__(
        self,
        name_servers: str,
        options: LiteOptions,
        *,
        offset_folder: Path | None = None,
    ) -> None:
        host = ClientHost(name_servers, options, offset_folder=offset_folder)
        persisted = host.offsets.read() if options.broadcasts else None
        consumer = LitePullConsumer(options, host.client, persisted=persisted)
        super().__init__(consumer, host)

    def subscribe(
        self,
        topic: str,
        expression: str = ALL_MESSAGES,
        *,
        expression_type: str = TAGS,
    ) -> None:
        """Subscribe to *topic* and share its queues with the group."""
        self.core.subscribe(
            topic, expression, expression_type=expression_type, now_ms=now_ms()
        )
        self._host.perform()

    def unsubscribe(self, topic: str) -> None:
        """End the subscription to *topic*."""
        self.core.unsubscribe(topic, now_ms())
        self._host.perform()

    def assign(self, queues: Collection[MessageQueue]) -> None:
        """Replace all assigned queues, independently of other members."""
        self.core.assign(queues, now_ms())
        self._host.perform()

    async def poll(self, timeout_ms: int = POLL_TIMEOUT_MS) -> tuple[MessageExt, ...]:
        """Return the next batch, or () after *timeout_ms*."""
        return await self._host.call(lambda at: self.core.poll(timeout_ms, at))

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue *queue* at *offset*, without the messages pulled before."""
        await self._host.call(lambda at: self.core.seek(queue, offset, at))

    async def commit(self) -> None:
        """Commit the polled offsets."""
        await self._host.call(self.core.commit_polled)

    def pause(self, queues: Collection[MessageQueue]) -> None:
        """Pause pulling; messages pulled before can still be polled."""
        self.core.pause(queues)

    def resume(self, queues: Collection[MessageQueue]) -> None:
        """Resume pulling, within a second."""
        self.core.pause(queues, is_paused=False)
