"""
Rebalance: compute the queues of this member (Java: RebalanceImpl, RebalanceService).

A broker returns the consumer ids of the group; a broadcasting member has all queues. It
runs every 20 seconds, when a broker notifies of changed ids, and after the first
successful heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import MemberOptions
from reference.core.client.remoting import requests
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Result, body_of
from reference.core.client.route.topic_queues import subscribe_queues
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.client.allocation import REBALANCE_PERIOD_MS
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.routing.route_data import TopicRoute
from spec.wire.bodies.heartbeat import GroupMembers, Subscription
from spec.wire.remoting.request_code import RequestCode

AssignQueues = Callable[[Collection[MessageQueue], Subscription, int], None]
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
        client.on_heartbeat_result = self._on_heartbeat_result

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
            self._rebalance_topic(subscription.topic, now_ms)

    def _on_heartbeat_result(self, result: Result, now_ms: int) -> None:
        """Rebalance after the first successful heartbeat."""
        if not self.is_registered and not isinstance(result, Failure):
            self.is_registered = True
            self.rebalance(now_ms)

    def _on_consumer_ids_changed(
        self, _address: str, request: Request, now_ms: int
    ) -> Response | None:
        if request.optional_text("consumerGroup") == self._options.group:
            self.rebalance(now_ms)
        return None

    def _rebalance_topic(self, topic: str, now_ms: int) -> None:
        def on_route(route: TopicRoute | None, later_ms: int) -> None:
            if route is not None:
                self._allocate(topic, route, later_ms)

        self._routes.find(topic, on_route, now_ms)

    def _allocate(self, topic: str, route: TopicRoute, now_ms: int) -> None:
        queues = subscribe_queues(topic, route)  # [CLIENT-ALLOCATE-008]
        if self._options.broadcasts:  # [CLIENT-ALLOCATE-009]
            self._assign_queues(topic, queues, now_ms)
            return

        def on_result(result: Result, later_ms: int) -> None:
            members = body_of(result, GroupMembers)
            if members is None:
                return
            client_id, ids = self._client.client_id, sorted(members.client_ids)
            allocated = self._options.allocate_strategy(client_id, queues, ids)
            own = [queue for queue in allocated if queue.topic == topic]
            self._assign_queues(topic, own, later_ms)

        address = self._routes.first_broker(route)
        request = requests.get_consumer_list(self._options.group)
        self._rpc.invoke(address, request, on_result, now_ms, OFFSET_TIMEOUT_MS)

    def _assign_queues(
        self, topic: str, queues: Collection[MessageQueue], now_ms: int
    ) -> None:
        """Assign *queues*, unless *topic* was unsubscribed from meanwhile."""
        for subscription in self._client.subscriptions:
            if subscription.topic == topic:
                self._assign(queues, subscription, now_ms)
