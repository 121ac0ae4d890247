"""
The pull loop of a lite pull consumer: queues pulled ahead of the application's polls.

The messages of a pull wait as one batch. Only polled messages count as consumed, so a
queue whose messages all fail the tag filter keeps its committed offset (4.6.0
DefaultLitePullConsumerImpl#commitAll).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_loop import PullLoop
from reference.core.client.pull.pull_request import (
    PullResult,
    pull_command,
)
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.remoting.tasks import start
from spec.client.subscription import AFTER_ERROR_MS, AFTER_FLOOD_MS
from spec.wire.bodies.heartbeat import TAG
from spec.wire.remoting.command import Command

LITE_SUSPEND_MS = 20_000
"""Time for which a broker may hold a pull (Java: brokerSuspendMaxTimeMillis)."""
AFTER_PAUSE_MS = 1000
"""Delay of a paused queue's next pull (Java: PULL_TIME_DELAY_MILLS_WHEN_PAUSE)."""


class LitePullLoop(PullLoop):
    """The assigned queues of a lite pull consumer, and their pulled batches."""

    _options: LiteOptions

    def __init__(
        self,
        options: LiteOptions,
        client: ClientInstance,
        persisted: Mapping[MessageQueue, int] | None,
        on_messages: Callable[[], None],
    ) -> None:
        super().__init__(options, client, persisted)
        self._on_messages = on_messages
        self._batches: deque[tuple[AssignedQueue, tuple[MessageExt, ...]]] = deque()

    def poll(self) -> tuple[MessageExt, ...]:
        """Return the oldest batch, which counts as polled, or ()."""
        while self._batches:
            assigned, messages = self._batches.popleft()
            if not assigned.is_dropped:
                assigned.process_queue.remove(messages)
                return messages
        return ()

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

    def _delay_ms(self, assigned: AssignedQueue) -> int:
        if assigned.is_paused:
            return AFTER_PAUSE_MS
        options = self._options
        if len(self._batches) * options.batch_size > options.ahead_max:
            return AFTER_FLOOD_MS
        return super()._delay_ms(assigned)

    def _pull_request(self, assigned: AssignedQueue, offset: int) -> Command:
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

    async def _find_offset(self, assigned: AssignedQueue) -> None:
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

    async def _find_address(self, assigned: AssignedQueue) -> None:
        """Fetch the route, again and again until it has an address."""
        queue, broker_id = assigned.queue, assigned.broker_id
        if await self._client.find_broker(queue, broker_id) is None:
            await self._rpc.sleep(AFTER_ERROR_MS)

    def _on_pulled(self, assigned: AssignedQueue, found: PullResult) -> None:
        """Keep the pulled messages as a batch."""
        if found.messages:
            self._batches.append((assigned, found.messages))
            self._on_messages()
