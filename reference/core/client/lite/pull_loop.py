"""
The pull loop of a lite pull consumer: queues pulled ahead of the application's polls.

A queue has one pull at a time, which the broker holds while it has no message. The
messages of a pull wait as one batch (Java: PullTaskImpl, AssignedMessageQueue).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_request import (
    PullResult,
    offset_of,
    pull_command,
    pull_result,
)
from reference.core.client.pull.subscription import TAGS
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.requests import query_consumer_offset_request
from reference.core.client.remoting.rpc_client import Callback, Result, RpcClient
from reference.core.client.route.routes import Routes
from spec.client.subscribing import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.routing.route_data import MASTER_ID, TopicRoute
from spec.wire.bodies.heartbeat import Subscription
from spec.wire.remoting.command import Command

LITE_SUSPEND_MS = 20_000
"""Time for which a broker may hold a pull (Java: brokerSuspendMaxTimeMillis)."""
AFTER_PAUSE_MS = 1000
"""Delay of a paused queue's next pull (Java: PULL_TIME_DELAY_MILLS_WHEN_PAUSE)."""


@dataclass(slots=True, kw_only=True)
class LiteQueue:
    """One queue while it is assigned."""

    queue: MessageQueue
    subscription: Subscription
    next_offset: int | None = None
    """The offset of the next pull; None before the committed offset is known."""
    process_queue: ProcessQueue = field(default_factory=ProcessQueue)
    """Messages pulled and not polled."""
    polled: int | None = None
    """The offset after the last polled message, or of a seek."""
    committed_offset: int | None = None
    broker_id: int = MASTER_ID
    """The broker of the next pull."""
    is_paused: bool = False
    """Whether pulling is paused; messages pulled before can be polled."""
    generation: int = 0
    """Number of seeks. Results and timers of an earlier generation are ignored."""
    is_dropped: bool = False
    """Whether the queue is not assigned any more."""

    def seek(self, offset: int) -> None:
        """Continue at *offset*, without the messages pulled before."""
        self.generation += 1
        self.next_offset = self.polled = offset
        self.process_queue = ProcessQueue()

    def drop(self) -> None:
        """End pulling."""
        self.generation += 1
        self.is_dropped = True


class LitePullLoop:
    """The assigned queues of a lite pull consumer, and their pulled batches."""

    def __init__(
        self,
        options: LiteOptions,
        *,
        rpc: RpcClient,
        routes: Routes,
        local_offsets: Mapping[MessageQueue, int],
        on_messages: Callable[[], None],
    ) -> None:
        self.assigned: dict[MessageQueue, LiteQueue] = {}
        self._options = options
        self._rpc = rpc
        self._routes = routes
        self._local_offsets = local_offsets
        self._on_messages = on_messages
        self._batches: deque[tuple[LiteQueue, tuple[MessageExt, ...]]] = deque()

    def assign(
        self,
        queues: Collection[MessageQueue],
        subscription: Subscription,
        now_ms: int,
    ) -> None:
        """Replace the assigned queues of the subscription's topic."""
        for queue in sorted(self.assigned):
            if queue.topic != subscription.topic:
                continue
            self.assigned[queue].subscription = subscription
            if queue not in queues:
                self.assigned.pop(queue).drop()
        for queue in sorted(queues):
            if queue not in self.assigned:
                assigned = LiteQueue(queue=queue, subscription=subscription)
                self.assigned[queue] = assigned
                self._pull(assigned, assigned.generation, now_ms)

    def poll(self) -> tuple[MessageExt, ...]:
        """Return the oldest batch, which counts as polled, or ()."""
        while self._batches:
            assigned, messages = self._batches.popleft()
            if not assigned.is_dropped:
                assigned.process_queue.remove(messages)
                assigned.polled = assigned.process_queue.offset
                return messages
        return ()

    def seek(self, queue: MessageQueue, offset: int, now_ms: int) -> None:
        """Continue an assigned queue at *offset*.

        The result of a held pull is ignored, like Java's since 4.9.2. The 4.6.0
        client applies a seek only after the broker's response.
        """
        assigned = self.assigned[queue]
        assigned.seek(offset)
        self._batches = deque(one for one in self._batches if one[0] is not assigned)
        self._pull(assigned, assigned.generation, now_ms)

    def _pull(self, assigned: LiteQueue, generation: int, now_ms: int) -> None:
        """Send the next pull, or delay it."""
        if assigned.generation != generation:
            return
        delay_ms = self._delay_ms(assigned)
        if delay_ms:
            self._pull_later(assigned, now_ms + delay_ms)
        elif assigned.next_offset is None:
            self._find_offset(assigned, now_ms)
        else:
            subscription = assigned.subscription
            if subscription.expression_type == TAGS:
                subscription = replace(subscription, version=0)
            request = pull_command(
                assigned.queue,
                subscription,
                group=self._options.group,
                offset=assigned.next_offset,
                max_count=self._options.batch_size,
                suspend_ms=LITE_SUSPEND_MS,
            )

            def on_result(result: Result, later_ms: int) -> None:
                self._on_pull_result(assigned, result, later_ms)

            self._invoke(assigned, request, on_result, now_ms, PULL_TIMEOUT_MS)

    def _delay_ms(self, assigned: LiteQueue) -> int:
        """Return the delay of the next pull in ms, 0 for none."""
        if assigned.is_paused:
            return AFTER_PAUSE_MS
        options = self._options
        is_flooded = len(self._batches) * options.batch_size > options.ahead_max
        if is_flooded or assigned.process_queue.exceeds(options.thresholds):
            return AFTER_FLOOD_MS
        return 0

    def _find_offset(self, assigned: LiteQueue, now_ms: int) -> None:
        """Begin at the committed offset; repeat the query until there is one.

        A broadcasting member without a local offset begins at 0.
        """
        if self._options.broadcasts:
            offset = self._local_offsets.get(assigned.queue, 0)
            assigned.next_offset = assigned.committed_offset = offset
            self._pull(assigned, assigned.generation, now_ms)
            return

        def on_result(result: Result, later_ms: int) -> None:
            found = offset_of(result)
            if isinstance(found, Failure):
                self._pull_later(assigned, later_ms + AFTER_ERROR_MS)
                return
            assigned.next_offset = assigned.committed_offset = found
            self._pull(assigned, assigned.generation, later_ms)

        request = query_consumer_offset_request(self._options.group, assigned.queue)
        self._invoke(assigned, request, on_result, now_ms, OFFSET_TIMEOUT_MS)

    def _on_pull_result(self, assigned: LiteQueue, result: Result, now_ms: int) -> None:
        """Keep the pulled messages as a batch, and pull again."""
        filters = self._options.filters
        found = pull_result(result, assigned.queue, assigned.subscription, filters)
        if not isinstance(found, PullResult):
            self._pull_later(assigned, now_ms + AFTER_ERROR_MS)
            return
        assigned.next_offset = found.next_offset
        assigned.broker_id = found.suggested_broker_id
        if found.messages:
            assigned.process_queue.add(found.messages)
            self._batches.append((assigned, found.messages))
            self._on_messages()
        self._pull(assigned, assigned.generation, now_ms)

    def _pull_later(self, assigned: LiteQueue, at_ms: int) -> None:
        generation = assigned.generation
        self._rpc.timers.call_at(
            at_ms, lambda now_ms: self._pull(assigned, generation, now_ms)
        )

    def _invoke(
        self,
        assigned: LiteQueue,
        request: Command,
        callback: Callback,
        now_ms: int,
        timeout_ms: int,
    ) -> None:
        """Send to the broker of the next pull; a seek meanwhile voids the result."""
        generation = assigned.generation

        def on_result(result: Result, later_ms: int) -> None:
            if assigned.generation == generation:
                callback(result, later_ms)

        def on_route(_route: TopicRoute | None, later_ms: int) -> None:
            if assigned.generation != generation:
                return
            if self._address(assigned) is None:
                self._pull_later(assigned, later_ms + AFTER_ERROR_MS)
            else:
                self._pull(assigned, generation, later_ms)

        address = self._address(assigned)
        is_tags = assigned.subscription.expression_type == TAGS
        if address is None:
            self._routes.fetch(assigned.queue.topic, on_route, now_ms=now_ms)
        elif is_tags or self._routes.knows_expressions(address):
            self._rpc.invoke(address, request, on_result, until_ms=now_ms + timeout_ms)
        else:
            self._pull_later(assigned, now_ms + AFTER_ERROR_MS)

    def _address(self, assigned: LiteQueue) -> str | None:
        name = assigned.queue.broker_name
        return self._routes.pull_address(name, assigned.broker_id)
