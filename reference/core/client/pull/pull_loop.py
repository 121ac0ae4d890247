"""
The pull loop of a group's member: assigned queues, pulled ahead of the application.

A queue has one pull at a time, which the broker holds while it has no message. Push and
lite pull consumers differ in the first offset, the limits of pulling ahead, and the way
of pulled messages (Java: DefaultMQPushConsumerImpl#pullMessage, PullTaskImpl).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import MemberOptions
from reference.core.client.pull.offset_store import OffsetStore
from reference.core.client.pull.pull_request import (
    PullResult,
    committed_offset_of,
    pull_result,
)
from reference.core.client.pull.subscription import TAGS
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.remoting import requests
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Callback, Result
from spec.client.subscribing import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.wire.bodies.heartbeat import Subscription
from spec.wire.remoting.command import Command


class PullLoop(ABC):
    """The assigned queues of a member."""

    def __init__(
        self,
        options: MemberOptions,
        client: ClientInstance,
        persisted: Mapping[MessageQueue, int] | None = None,
    ) -> None:
        self.assigned: dict[MessageQueue, AssignedQueue] = {}
        self.offset_store = OffsetStore(options, client, self.assigned, persisted)
        self.thresholds = options.thresholds
        self._options = options
        self._client = client
        self._rpc, self._routes = client.rpc, client.routes

    def assign(
        self,
        queues: Collection[MessageQueue],
        subscription: Subscription,
        now_ms: int,
    ) -> None:
        """Replace the assigned queues of the subscription's topic."""
        for queue in sorted(self.assigned):
            if queue.topic == subscription.topic:
                self.assigned[queue].subscription = subscription
                if queue not in queues:
                    self._unassign(self.assigned[queue])
        for queue in sorted(queues):
            if queue not in self.assigned:
                assigned = AssignedQueue(queue=queue, subscription=subscription)
                self.assigned[queue] = assigned
                self._begin(assigned, now_ms)

    def _drop(self, assigned: AssignedQueue) -> None:
        """Remove a queue; the next rebalance may assign it again."""
        assigned.is_dropped = True
        self.assigned.pop(assigned.queue, None)

    def _unassign(self, assigned: AssignedQueue) -> None:
        """Remove a queue that another member has."""
        self._drop(assigned)

    def _begin(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Begin with a queue."""
        self._pull(assigned, now_ms)

    @abstractmethod
    def _begin_at(
        self, assigned: AssignedQueue, committed: int | Failure | None, now_ms: int
    ) -> None:
        """Begin at the committed offset; None if the group has none."""

    @abstractmethod
    def _pull_request(self, assigned: AssignedQueue, offset: int) -> Command:
        """Build the next pull."""

    @abstractmethod
    def _on_pulled(
        self, assigned: AssignedQueue, found: PullResult, now_ms: int
    ) -> None:
        """Process the messages of a pull, or a pull without messages."""

    @abstractmethod
    def _on_no_address(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Process that no route has an address of the queue's broker."""

    def _delay_ms(self, assigned: AssignedQueue) -> int:
        """Return the delay of the next pull in ms, 0 for none."""
        address = self._address(assigned)
        is_tags = assigned.subscription.expression_type == TAGS
        if not is_tags and not self._routes.knows_expressions(address):
            return AFTER_ERROR_MS
        thresholds = self.thresholds.of_queue(len(self.assigned))
        return AFTER_FLOOD_MS if assigned.process_queue.exceeds(thresholds) else 0

    def _find_offset(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Find the committed offset, and begin there."""
        if self._options.broadcasts:
            committed = self.offset_store.local_offsets.get(assigned.queue)
            self._begin_at(assigned, committed, now_ms)
            return

        def on_result(result: Result, later_ms: int) -> None:
            self._begin_at(assigned, committed_offset_of(result), later_ms)

        request = requests.query_consumer_offset(self._options.group, assigned.queue)
        self._invoke(assigned, request, on_result, now_ms, OFFSET_TIMEOUT_MS)

    def _pull(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Send the next pull, or delay it; an unknown offset is found first."""
        if not assigned.is_active:
            return
        delay_ms = self._delay_ms(assigned)
        if delay_ms:
            self._pull_later(assigned, now_ms + delay_ms)
        elif assigned.next_offset is None:
            self._find_offset(assigned, now_ms)
        else:
            assigned.pulled_at_ms = now_ms
            request = self._pull_request(assigned, assigned.next_offset)

            def on_result(result: Result, later_ms: int) -> None:
                self._on_pull_result(assigned, result, later_ms)

            self._invoke(assigned, request, on_result, now_ms, PULL_TIMEOUT_MS)

    def _on_pull_result(
        self, assigned: AssignedQueue, result: Result, now_ms: int
    ) -> None:
        """Process the result of a pull, and pull again."""
        filters = self._options.filters
        found = pull_result(result, assigned.queue, assigned.subscription, filters)
        if not isinstance(found, PullResult):
            self._pull_later(assigned, now_ms + AFTER_ERROR_MS)  # [CLIENT-PULL-012]
            return
        assigned.next_offset = found.next_offset  # [CLIENT-PULL-005]
        assigned.broker_id = found.suggested_broker_id
        assigned.process_queue.add(found.messages)
        self._on_pulled(assigned, found, now_ms)
        self._pull(assigned, now_ms)

    def _pull_later(self, assigned: AssignedQueue, at_ms: int) -> None:
        self._rpc.timers.call_at(at_ms, lambda now_ms: self._pull(assigned, now_ms))

    def _invoke(
        self,
        assigned: AssignedQueue,
        request: Command,
        callback: Callback,
        now_ms: int,
        timeout_ms: int,
    ) -> None:
        """Send to the broker of the next pull; ignore the result of a dropped queue."""

        def on_result(result: Result, later_ms: int) -> None:
            if assigned.is_active:
                callback(result, later_ms)

        address = self._address(assigned)
        if address is None:
            self._on_no_address(assigned, now_ms)
        else:
            self._rpc.invoke(address, request, on_result, now_ms, timeout_ms)

    def _address(self, assigned: AssignedQueue) -> str | None:
        name = assigned.queue.broker_name
        return self._routes.pull_address(name, assigned.broker_id)
