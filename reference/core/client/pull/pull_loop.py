"""
The pull loop of a group's member: assigned queues, pulled ahead of the application.

A queue has a task while it is assigned, and one pull at a time, which the broker holds
while it has no message. Push and lite pull consumers differ in the first offset, the
limits of pulling ahead, and the way of pulled messages (Java:
DefaultMQPushConsumerImpl#pullMessage, PullTaskImpl).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from contextlib import suppress
from typing import Generic, TypeVar

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import RebalanceOptions
from reference.core.client.pull.offset_store import OffsetStore
from reference.core.client.pull.pull_request import (
    PullResult,
    committed_offset_of,
    pull_result,
    queue_command,
)
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Result
from reference.core.client.remoting.tasks import start
from spec.client.subscription import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.wire.bodies.heartbeat import TAG, SubscriptionData
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

Queue = TypeVar("Queue", bound=AssignedQueue)


class QueueInactiveError(Exception):
    """End of a queue's task: the queue was dropped or suspended meanwhile."""


class PullLoop(ABC, Generic[Queue]):
    """The assigned queues of a member."""

    queue_type: type[Queue]
    """Class of the assigned queues."""

    def __init__(self, options: RebalanceOptions, client: ClientInstance) -> None:
        self.assigned: dict[MessageQueue, Queue] = {}
        self.offset_store = OffsetStore(options, client, self.assigned)
        self._options = options
        self._client = client
        self._rpc, self._routes = client.rpc, client.routes

    def assign(
        self, queues: Collection[MessageQueue], subscription: SubscriptionData
    ) -> None:
        """Replace the assigned queues of the subscription's topic."""
        for queue in sorted(self.assigned):
            if queue.topic == subscription.topic:
                self.assigned[queue].subscription = subscription
                if queue not in queues:
                    self._unassign(self.assigned[queue])
        for queue in sorted(queues):
            if queue not in self.assigned:
                assigned = self.queue_type(queue=queue, subscription=subscription)
                self.assigned[queue] = assigned
                start(self._run(assigned))

    def _drop(self, assigned: Queue) -> None:
        """Remove a queue; the next rebalance may assign it again."""
        assigned.is_dropped = True
        self.assigned.pop(assigned.queue, None)

    def _unassign(self, assigned: Queue) -> None:
        """Remove a queue that another member has."""
        self._drop(assigned)

    async def _run(self, assigned: Queue) -> None:
        """Pull a queue as long as it is active."""
        with suppress(QueueInactiveError):
            while assigned.is_active:
                delay_ms = self._delay_ms(assigned)
                if delay_ms:
                    await self._rpc.sleep(delay_ms)
                elif self._address(assigned) is None:
                    await self._find_address(assigned)
                elif assigned.next_offset is None:
                    await self._find_offset(assigned)
                else:
                    await self._pull(assigned, assigned.next_offset)

    async def _pull(self, assigned: Queue, offset: int) -> None:
        """Pull from *offset*; an error is followed by a pause."""
        assigned.pulled_at_ms = self._rpc.now_ms()
        request = self._pull_request(assigned, offset)
        result = await self._invoke(assigned, request, PULL_TIMEOUT_MS)
        filters = self._options.filters
        found = pull_result(result, assigned.queue, assigned.subscription, filters)
        if isinstance(found, Failure):  # [CLIENT-PULL-012]
            await self._rpc.sleep(AFTER_ERROR_MS)
            return
        assigned.next_offset = found.next_offset  # [CLIENT-PULL-005]
        assigned.broker_id = found.suggested_broker_id
        assigned.process_queue.add(found.messages)
        self._on_pulled(assigned, found)

    @abstractmethod
    async def _find_address(self, assigned: Queue) -> None:
        """Find an address of the queue's broker, which no route has."""

    @abstractmethod
    async def _find_offset(self, assigned: Queue) -> None:
        """Find the offset of the first pull."""

    @abstractmethod
    def _pull_request(self, assigned: Queue, offset: int) -> Command:
        """Build the next pull."""

    @abstractmethod
    def _on_pulled(self, assigned: Queue, found: PullResult) -> None:
        """Process the messages of a pull, or a pull without messages."""

    def _delay_ms(self, assigned: Queue) -> int:
        """Return the delay of the next pull in ms, 0 for none."""
        address = self._address(assigned)
        is_tags = assigned.subscription.expression_type == TAG
        if not is_tags and not self._routes.knows_expressions(address):
            return AFTER_ERROR_MS
        thresholds = self._options.thresholds.of_queue(len(self.assigned))
        return AFTER_FLOOD_MS if assigned.process_queue.exceeds(thresholds) else 0

    async def _committed_offset(self, assigned: Queue) -> int | Failure | None:
        """Return the group's committed offset, None if it has none."""
        if self._options.broadcasts:
            return self._client.local_offsets.get(assigned.queue)
        fields = {"consumerGroup": self._options.group}
        code = RequestCode.QUERY_CONSUMER_OFFSET
        request = queue_command(code, assigned.queue, fields)
        result = await self._invoke(assigned, request, OFFSET_TIMEOUT_MS)
        return committed_offset_of(result)

    async def _invoke(
        self, assigned: Queue, request: Command, timeout_ms: int
    ) -> Result:
        """Send to the broker of the next pull; raise for a queue inactive by then."""
        address = self._address(assigned)
        result = await self._rpc.invoke(address, request, timeout_ms)
        if not assigned.is_active:
            raise QueueInactiveError
        return result

    def _address(self, assigned: Queue) -> str | None:
        name = assigned.queue.broker_name
        return self._routes.pull_address(name, assigned.broker_id)
