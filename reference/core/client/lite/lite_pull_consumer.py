"""
A lite pull consumer: it pulls ahead, and the application polls (since 4.6.0).

It either subscribes to topics and shares their queues with its group, or has queues
assigned by hand. Polled offsets are committed by a call, or every 5 seconds by a poll
(Java: DefaultLitePullConsumerImpl).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

from reference.core.client.client_instance import ClientInstance
from reference.core.client.lite.lite_pull_loop import LitePullLoop
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PullConsumer
from reference.core.client.pull.subscription import membership, subscription_of
from reference.core.client.rebalance.rebalance import Rebalance
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.tasks import Wait, start
from reference.core.client.validators import check_topic
from spec.wire.bodies.heartbeat import ALL_MESSAGES, TAG, SubscriptionData

POLL_TIMEOUT_MS = 5000
"""Java: pollTimeoutMillis."""


class LitePullConsumer(PullConsumer):
    """Polls, seeks and commits."""

    options: LiteOptions

    def __init__(
        self,
        options: LiteOptions,
        client: ClientInstance,
        *,
        persisted: Mapping[MessageQueue, int] | None = None,
    ) -> None:
        super().__init__(options, client)
        self.pull_loop = LitePullLoop(options, client, persisted, self._serve_polls)
        self._rebalance = Rebalance(options, client, self.pull_loop.assign)
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._polls: deque[Wait[tuple[MessageExt, ...]]] = deque()
        """Polls that wait for messages."""
        self._has_manual_queues = False
        self._next_commit_ms = 0
        self._register()

    def start(self) -> None:
        """Join the group."""
        self._rebalance.start()
        super().start()

    def stop(self) -> None:
        """Leave the group, without a last commit."""
        while self._polls:
            self._polls.popleft().end(())
        for assigned in self.pull_loop.assigned.values():
            assigned.is_dropped = True
        super().stop()

    def subscribe(
        self,
        topic: str,
        expression: str = ALL_MESSAGES,
        *,
        expression_type: str = TAG,
    ) -> None:
        """Subscribe to *topic*; raise ClientError after `assign`."""
        check_topic(topic)
        if self._has_manual_queues:
            raise ClientError(Failure(reason=Reason.MIXED, remark=topic))
        self._subscriptions[topic] = subscription_of(
            topic,
            expression,
            version=self._rpc.now_ms(),
            expression_type=expression_type,
        )
        self._register()
        start(self._announce(topic))

    def unsubscribe(self, topic: str) -> None:
        """End the subscription to *topic*."""
        subscription = self._subscriptions.pop(topic, None)
        if subscription is not None:
            self._register()
            self.pull_loop.assign((), subscription)

    def assign(self, queues: Collection[MessageQueue]) -> None:
        """Replace all assigned queues; raise ClientError after `subscribe`."""
        if self._subscriptions:
            raise ClientError(Failure(reason=Reason.MIXED))
        self._has_manual_queues = True
        assigned = self.pull_loop.assigned
        for topic in sorted({queue.topic for queue in (*assigned, *queues)}):
            own = [queue for queue in queues if queue.topic == topic]
            everything = subscription_of(topic, ALL_MESSAGES, version=0)
            self.pull_loop.assign(own, everything)

    async def poll(self, timeout_ms: int = POLL_TIMEOUT_MS) -> tuple[MessageExt, ...]:
        """Poll a batch; return () after *timeout_ms*."""
        now_ms = self._rpc.now_ms()
        if self.options.auto_commits and now_ms >= self._next_commit_ms:
            self.pull_loop.offset_store.commit_all()
            self._next_commit_ms = now_ms + self.options.periods.commit_ms
        wait = Wait[tuple[MessageExt, ...]]()
        self._polls.append(wait)
        self._serve_polls()

        def on_timeout() -> None:
            if wait in self._polls:
                self._polls.remove(wait)
                wait.end(())

        if wait in self._polls:
            self._rpc.call_later(timeout_ms, on_timeout)
        return await wait

    async def commit_polled(self) -> None:
        """Commit polled offsets, and wait for every response."""
        await self.pull_loop.offset_store.commit_sync()

    def pause(
        self, queues: Collection[MessageQueue], *, is_paused: bool = True
    ) -> None:
        """Pause or resume pulling of assigned queues."""
        for queue in queues:
            if queue in self.pull_loop.assigned:
                self.pull_loop.assigned[queue].is_paused = is_paused

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue an assigned queue at *offset*, if that is within its bounds."""
        first, end = await self.min_offset(queue), await self.max_offset(queue)
        if queue not in self.pull_loop.assigned:
            raise ClientError(Failure(reason=Reason.NOT_ASSIGNED, remark=str(queue)))
        if not first <= offset <= end:
            remark = f"{offset} is not within {first} and {end}"
            raise ClientError(Failure(reason=Reason.NO_OFFSET, remark=remark))
        self.pull_loop.seek(queue, offset)

    async def _announce(self, topic: str) -> None:
        """Send heartbeats with the subscriptions, after fetching the route."""
        await self._routes.fetch(topic)
        self._rebalance.is_registered = False
        self._client.send_heartbeats()

    def _register(self) -> None:
        """Put the present subscriptions into the heartbeats."""
        self._client.consumer = membership(
            self.options.group,
            self._subscriptions.values(),
            broadcasts=self.options.broadcasts,
        )

    def _serve_polls(self) -> None:
        """Finish waiting polls with the pulled batches."""
        while self._polls and (messages := self.pull_loop.poll()):
            self._polls.popleft().end(messages)
