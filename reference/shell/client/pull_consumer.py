"""
Pull consumers for applications; a call that fails raises ClientError.

    async with PullClient("127.0.0.1:9876", options) as consumer:
        for queue in await consumer.queues("TopicTest"):
            found = await consumer.pull(queue, offset=0, count=32)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from reference.core.client.lite.lite_pull_consumer import LitePullConsumer
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions, PullOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PULL_TIMEOUT_MS, PullConsumer
from reference.core.client.pull.pull_request import PullResult
from reference.core.client.pull.subscription import TAGS
from reference.core.client.remoting.rpc_client import RpcClient
from reference.shell.client.client_host import ClientHost, routes_from
from reference.shell.client.consumer import MemberClient
from reference.shell.client.local_offset_store import LocalOffsetStore
from reference.shell.clock import now_ms
from spec.wire.bodies.heartbeat import ALL_MESSAGES

POLL_TIMEOUT_MS = 5000
"""Java: pollTimeoutMillis."""
AnyPullConsumer = TypeVar("AnyPullConsumer", bound=PullConsumer)


class PullingClient(MemberClient[AnyPullConsumer]):
    """Calls of both pull consumers."""

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the readable queues of *topic*, sorted."""
        found = await self._host.call(lambda at: self.consumer.queues(topic, at))
        assert isinstance(found, tuple)
        return found

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's committed offset, or None without any."""
        found = await self._host.call(lambda at: self.consumer.committed(queue, at))
        assert found is None or isinstance(found, int)
        return found


class PullClient(PullingClient[PullConsumer]):
    """A consumer that pulls on demand."""

    def __init__(self, name_servers: str, options: PullOptions) -> None:
        rpc = RpcClient()
        routes = routes_from(name_servers, rpc, options.periods)
        consumer = PullConsumer(options, rpc=rpc, routes=routes)
        super().__init__(consumer, ClientHost(rpc))

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
        found = await self._host.call(
            lambda at: self.consumer.pull(
                queue,
                expression,
                offset=offset,
                count=count,
                now_ms=at,
                timeout_ms=timeout_ms,
            )
        )
        assert isinstance(found, PullResult)
        return found

    async def min_offset(self, queue: MessageQueue) -> int:
        """Return the offset of the first message of *queue*."""
        return await self._offset(lambda at: self.consumer.min_offset(queue, at))

    async def max_offset(self, queue: MessageQueue) -> int:
        """Return the offset after the last message of *queue*."""
        return await self._offset(lambda at: self.consumer.max_offset(queue, at))

    async def search_offset(self, queue: MessageQueue, time_ms: int) -> int:
        """Return the offset of the message stored at *time_ms*."""
        return await self._offset(
            lambda at: self.consumer.search_offset(queue, time_ms, at)
        )

    async def commit(self, queue: MessageQueue, offset: int) -> None:
        """Commit *offset* for the group."""
        await self._host.call(lambda at: self.consumer.commit(queue, offset, at))

    async def _offset(self, begin: Callable[[int], int]) -> int:
        found = await self._host.call(begin)
        assert isinstance(found, int)
        return found


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
        rpc = RpcClient()
        routes = routes_from(name_servers, rpc, options.periods)
        store = LocalOffsetStore(offset_folder, options.client_id, options.group)
        consumer = LitePullConsumer(
            options,
            rpc=rpc,
            routes=routes,
            persisted=store.read() if options.broadcasts else None,
        )
        super().__init__(consumer, ClientHost(rpc, persist=store.persist))

    def subscribe(
        self,
        topic: str,
        expression: str = ALL_MESSAGES,
        *,
        expression_type: str = TAGS,
    ) -> None:
        """Subscribe to *topic* and share its queues with the group."""
        self.consumer.subscribe(
            topic, expression, expression_type=expression_type, now_ms=now_ms()
        )
        self._host.perform()

    def unsubscribe(self, topic: str) -> None:
        """End the subscription to *topic*."""
        self.consumer.unsubscribe(topic, now_ms())
        self._host.perform()

    def assign(self, queues: Collection[MessageQueue]) -> None:
        """Replace all assigned queues, independently of other members."""
        self.consumer.assign(queues, now_ms())
        self._host.perform()

    async def poll(self, timeout_ms: int = POLL_TIMEOUT_MS) -> tuple[MessageExt, ...]:
        """Return the next batch, or () after *timeout_ms*."""
        found = await self._host.call(lambda at: self.consumer.poll(timeout_ms, at))
        assert isinstance(found, tuple)
        return found

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue *queue* at *offset*, without the messages pulled before."""
        await self._host.call(lambda at: self.consumer.seek(queue, offset, at))

    async def commit(self) -> None:
        """Commit the polled offsets."""
        await self._host.call(self.consumer.commit_polled)

    def pause(self, queues: Collection[MessageQueue]) -> None:
        """Pause pulling; messages pulled before can still be polled."""
        self.consumer.pause(queues)

    def resume(self, queues: Collection[MessageQueue]) -> None:
        """Resume pulling, within a second."""
        self.consumer.pause(queues, is_paused=False)
