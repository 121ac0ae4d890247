"""
Rebalance: compute the queues of this member (Java: RebalanceImpl, RebalanceService).

A broker returns the consumer ids of the group; a broadcasting member has all queues. It
runs every 20 seconds, when a broker notifies of changed ids, and after the first
successful heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import MemberOptions
from reference.core.client.remoting import requests
from reference.core.client.remoting.rpc_client import body_of
from reference.core.client.remoting.tasks import start
from reference.core.client.route.topic_queues import subscribe_queues
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.client.allocation import REBALANCE_PERIOD_MS
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.wire.bodies.heartbeat import (
    GetConsumerListByGroupResponseBody,
    SubscriptionData,
)
from spec.wire.remoting.request_code import RequestCode

AssignQueues = Callable[[Collection[MessageQueue], SubscriptionData, int], None]
"""Called with all assigned queues of the subscription's topic, and the time."""


class Rebalance:
    """Periodic rebalance of one member's subscriptions."""

    def __init__(
        self,
        options: MemberOptions,
        client: ClientInstance,
        assign: AssignQueues,
    ) -> None:
        self.is_registered = False
        """Whether a broker has the present subscriptions from a heartbeat."""
        self._options = options
        self._client = client
        self._rpc, self._routes = client.rpc, client.routes
        self._assign = assign
        code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
        client.rpc.handlers[code] = self._on_consumer_ids_changed
        client.on_heartbeat = self._on_heartbeat

    def start(self, now_ms: int) -> None:
        """Rebalance periodically."""
        first_ms = now_ms + REBALANCE_PERIOD_MS  # [CLIENT-ALLOCATE-010]
        call_every = self._rpc.timers.call_every
        call_every(REBALANCE_PERIOD_MS, self.rebalance, first_ms=first_ms)

    def rebalance(self, now_ms: int) -> None:
        """Compute the assigned queues of every subscription.

        A topic keeps its queues if its route or the consumer ids are not available.
        """
        for subscription in self._client.subscriptions:
            start(self._rebalance_topic(subscription.topic, now_ms))

    def _on_heartbeat(self, now_ms: int) -> None:
        """Rebalance after the first successful heartbeat."""
        if not self.is_registered:
            self.is_registered = True
            self.rebalance(now_ms)

    def _on_consumer_ids_changed(
        self, _address: str, request: Request, now_ms: int
    ) -> Response | None:
        if request.optional_text("consumerGroup") == self._options.group:
            self.rebalance(now_ms)
        return None

    async def _rebalance_topic(self, topic: str, now_ms: int) -> None:
        """Assign queues of *topic*, unless it was unsubscribed from meanwhile."""
        route, now_ms = await self._routes.find(topic, now_ms)
        if route is None:
            return
        queues: Sequence[MessageQueue]
        queues = subscribe_queues(topic, route)  # [CLIENT-ALLOCATE-008]
        if not self._options.broadcasts:  # [CLIENT-ALLOCATE-009]
            address = self._routes.first_broker(route)
            request = requests.get_consumer_list(self._options.group)
            result, now_ms = await self._rpc.invoke(
                address, request, now_ms, OFFSET_TIMEOUT_MS
            )
            members = body_of(result, GetConsumerListByGroupResponseBody)
            if members is None:
                return
            client_id, ids = self._client.client_id, sorted(members.client_ids)
            allocated = self._options.allocate_strategy(client_id, queues, ids)
            queues = [queue for queue in allocated if queue.topic == topic]
        for subscription in self._client.subscriptions:
            if subscription.topic == topic:
                self._assign(queues, subscription, now_ms)
