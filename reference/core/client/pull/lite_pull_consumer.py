"""
A lite pull consumer: it pulls ahead, and the application polls (since 4.6.0).

It either subscribes to topics and shares their queues with its group, or has queues
assigned by hand. Polled offsets are committed by a call, or every 5 seconds by a poll.
Only polled messages count as consumed, so a queue whose messages all fail the tag
filter keeps its committed offset (4.6.0 DefaultLitePullConsumerImpl#commitAll).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

from msgspec.structs import replace

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PullConsumer
from reference.core.client.pull.pull_loop import PullLoop
from reference.core.client.pull.pull_request import PullResult, pull_command
from reference.core.client.pull.subscription import consumer_data, subscription_of
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.rebalance.rebalance import Rebalance
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.tasks import Wait, start
from reference.core.client.validators import check_topic
from reference.core.remoting.request import Request
from spec.client.subscription import AFTER_ERROR_MS, AFTER_FLOOD_MS
from spec.wire.bodies.heartbeat import (
    ALL_MESSAGES,
    TAG,
    ConsumerData,
    SubscriptionData,
)
from spec.wire.remoting.command import Command

POLL_TIMEOUT_MS = 5000
"""Java: pollTimeoutMillis."""
LITE_SUSPEND_MS = 20_000
"""Time for which a broker may hold a pull (Java: brokerSuspendMaxTimeMillis)."""
AFTER_PAUSE_MS = 1000
"""Delay of a paused queue's next pull (Java: PULL_TIME_DELAY_MILLS_WHEN_PAUSE)."""


class LiteQueue(AssignedQueue, kw_only=True):
    """An assigned queue whose messages are polled."""

    is_paused: bool = False
    """Whether pulling is paused; messages pulled before can be polled."""


class LitePullLoop(PullLoop[LiteQueue]):
    """The assigned queues of a lite pull consumer, and their pulled batches."""

    queue_type = LiteQueue
    _options: LiteOptions

    def __init__(
        self,
        options: LiteOptions,
        client: ClientInstance,
        on_messages: Callable[[], None],
    ) -> None:
        super().__init__(options, client)
        self._on_messages = on_messages
        self._batches: deque[tuple[LiteQueue, tuple[MessageExt, ...]]] = deque()

    @property
    def has_batch(self) -> bool:
        """Whether a batch can be polled; those of dropped queues are removed."""
        while self._batches and self._batches[0][0].is_dropped:
            self._batches.popleft()
        return bool(self._batches)

    def poll(self) -> tuple[MessageExt, ...]:
        """Return the oldest batch, which counts as polled, or ()."""
        if not self.has_batch:
            return ()
        assigned, messages = self._batches.popleft()
        assigned.process_queue.remove(messages)
        return messages

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue an assigned queue at *offset*, without the messages pulled before.

        The result of a held pull is ignored, like Java's since 4.9.2. The 4.6.0
        client applies a seek only after the broker's response.
        """
        old = self.assigned[queue]
        assigned = replace(old, next_offset=offset, process_queue=ProcessQueue())
        assigned.process_queue.skip_to(offset)
        old.is_dropped = True
        self.assigned[queue] = assigned
        self._batches = deque(one for one in self._batches if one[0] is not old)
        start(self._run(assigned))

    def _delay_ms(self, assigned: LiteQueue) -> int:
        if assigned.is_paused:
            return AFTER_PAUSE_MS
        options = self._options
        if len(self._batches) * options.batch_size > options.ahead_max:
            return AFTER_FLOOD_MS
        return super()._delay_ms(assigned)

    def _pull_request(self, assigned: LiteQueue, offset: int) -> Command:
        subscription = assigned.subscription
        if subscription.expression_type == TAG:
            subscription = replace(subscription, version=0)
        return pull_command(
            assigned.queue,
            subscription,
            group=self._options.group,
            offset=offset,
            max_count=self._options.batch_size,
            suspend_ms=LITE_SUSPEND_MS,
        )

    async def _find_offset(self, assigned: LiteQueue) -> None:
        """Begin at the committed offset; repeat the query until there is one.

        A broadcasting member without a local offset begins at 0.
        """
        committed = await self._committed_offset(assigned)
        if committed is None and self._options.broadcasts:
            committed = 0
        if isinstance(committed, int):
            assigned.next_offset = assigned.committed_offset = committed
        else:
            await self._rpc.sleep(AFTER_ERROR_MS)

    async def _find_address(self, assigned: LiteQueue) -> None:
        """Fetch the route, again and again until it has an address."""
        queue, broker_id = assigned.queue, assigned.broker_id
        if await self._client.find_broker(queue, broker_id) is None:
            await self._rpc.sleep(AFTER_ERROR_MS)

    def _on_pulled(self, assigned: LiteQueue, found: PullResult) -> None:
        if found.messages:
            self._batches.append((assigned, found.messages))
            self._on_messages()


class LitePullConsumer(PullConsumer):
    """Polls, seeks and commits."""

    options: LiteOptions

    def __init__(self, options: LiteOptions, client: ClientInstance) -> None:
        super().__init__(options, client)
        self.pull_loop = LitePullLoop(options, client, self._serve_polls)
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._rebalance = Rebalance(
            options, client, self._subscriptions, self.pull_loop.assign
        )
        self._polls: deque[Wait[bool]] = deque()
        self._has_manual_queues = False
        self._next_commit_ms = 0

    def group_data(self) -> ConsumerData:
        """Return the consumer's part of a heartbeat, with the present subscriptions."""
        return consumer_data(
            self.options.group,
            self._subscriptions.values(),
            broadcasts=self.options.broadcasts,
        )

    def start(self) -> None:
        """Join the group."""
        self._rebalance.start()
        super().start()

    def stop(self) -> None:
        """Leave the group, without a last commit."""
        while self._polls:
            self._polls.popleft().end(False)
        for assigned in self.pull_loop.assigned.values():
            assigned.is_dropped = True
        super().stop()

    def subscribe(
        self, topic: str, expression: str = ALL_MESSAGES, *, expression_type: str = TAG
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
        start(self._announce(topic))

    def unsubscribe(self, topic: str) -> None:
        """End the subscription to *topic*."""
        subscription = self._subscriptions.pop(topic, None)
        if subscription is not None:
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

    async def wait_for_batch(self, timeout_ms: int) -> bool:
        """Wait up to *timeout_ms* for a batch to poll; return whether there is one.

        It commits what was polled before, if that is due.
        """
        now_ms = self._rpc.now_ms()
        if self.options.auto_commits and now_ms >= self._next_commit_ms:
            self.pull_loop.offset_store.commit_all()
            self._next_commit_ms = now_ms + self.options.periods.commit_ms
        wait = Wait[bool]()
        self._polls.append(wait)
        self._serve_polls()

        def on_timeout() -> None:
            if wait in self._polls:
                self._polls.remove(wait)
                wait.end(False)

        if wait in self._polls:
            self._rpc.call_later(timeout_ms, on_timeout)
        return await wait

    async def commit_polled(self) -> None:
        """Commit polled offsets, and wait for every response."""
        await self.pull_loop.offset_store.commit_sync()

    def pause(self, queues: Collection[MessageQueue]) -> None:
        """Pause pulling; messages pulled before can still be polled."""
        self._set_paused(queues, True)

    def resume(self, queues: Collection[MessageQueue]) -> None:
        """Resume pulling, within a second."""
        self._set_paused(queues, False)

    def _set_paused(self, queues: Collection[MessageQueue], is_paused: bool) -> None:
        for queue in self.pull_loop.assigned.keys() & set(queues):
            self.pull_loop.assigned[queue].is_paused = is_paused

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue an assigned queue at *offset*.

        Raises ClientError if the queue is not assigned or does not have the offset.
        """
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
        self.send_heartbeats()

    def _on_heartbeat(self, address: str, response: Request) -> None:
        super()._on_heartbeat(address, response)
        self._rebalance.on_heartbeat()

    def _serve_polls(self) -> None:
        """Resume waiting polls while there is a batch, which they then take."""
        while self._polls and self.pull_loop.has_batch:
            self._polls.popleft().end(True)
