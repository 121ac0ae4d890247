"""
Rebalance: compute the queues of this member (Java: RebalanceImpl, RebalanceService).

A broker returns the consumer ids of the group; a broadcasting member has all queues. It
runs every 20 seconds, when a broker notifies of changed ids, and after the first
successful heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import RebalanceOptions
from reference.core.client.remoting.rpc_client import body_of
from reference.core.client.remoting.tasks import start
from reference.core.client.routes import subscribe_queues
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response, create_request
from reference.core.unexpected import error_text
from spec.client.allocation import REBALANCE_PERIOD_MS
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.wire.bodies.heartbeat import (
    GetConsumerListByGroupResponseBody,
    SubscriptionData,
)
from spec.wire.remoting.request_code import RequestCode

AssignQueues = Callable[[Collection[MessageQueue], SubscriptionData], None]
"""Called with all assigned queues of the subscription's topic."""


class Rebalance:
    """Periodic rebalance of one member's subscriptions, which may change."""

    def __init__(
        self,
        options: RebalanceOptions,
        client: ClientInstance,
        subscriptions: Mapping[str, SubscriptionData],
        assign: AssignQueues,
    ) -> None:
        self.is_registered = False
        """Whether a broker has the present subscriptions from a heartbeat."""
        self._options = options
        self._client_id = client.client_id
        self._rpc, self._routes = client.rpc, client.routes
        self._subscriptions = subscriptions
        """By topic (Java: RebalanceImpl#subscriptionInner)."""
        self._assign = assign
        self._numbers = count()
        code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
        client.rpc.handlers[code] = self._on_consumer_ids_changed

    def start(self) -> None:
        """Rebalance periodically."""
        # [CLIENT-ALLOCATE-010]
        self._rpc.call_every(REBALANCE_PERIOD_MS, self.rebalance)

    def rebalance(self) -> None:
        """Compute the assigned queues of every subscription.

        A topic keeps its queues if its route or the consumer ids are not available.
        """
        number = next(self._numbers)
        for topic in tuple(self._subscriptions):
            start(self._rebalance_topic(topic, number))

    def on_heartbeat(self) -> None:
        """Rebalance if no broker had the subscriptions before."""
        if not self.is_registered:
            self.is_registered = True
            self.rebalance()

    def _on_consumer_ids_changed(self, _: str, request: Request) -> Response | None:
        if request.optional_text("consumerGroup") == self._options.group:
            self.rebalance()
        return None

    async def _rebalance_topic(self, topic: str, number: int) -> None:
        """Assign queues of *topic*, unless it was unsubscribed from meanwhile.

        Each *number* requests the consumer ids from another broker.
        """
        route = await self._routes.find(topic)
        if route is None:
            return
        queues: Sequence[MessageQueue]
        queues = subscribe_queues(topic, route)  # [CLIENT-ALLOCATE-008]
        if not self._options.broadcasts:  # [CLIENT-ALLOCATE-009]
            address = self._routes.any_broker(route, number)
            fields = {"consumerGroup": self._options.group}
            request = create_request(RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields)
            result = await self._rpc.invoke(address, request, OFFSET_TIMEOUT_MS)
            members = body_of(result, GetConsumerListByGroupResponseBody)
            if members is None or not members.client_ids:
                return
            allocated = self._allocate(queues, members.client_ids)
            if allocated is None:
                return
            queues = [queue for queue in allocated if queue.topic == topic]
        subscription = self._subscriptions.get(topic)
        if subscription is not None:
            self._assign(queues, subscription)

    def _allocate(
        self, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> Sequence[MessageQueue] | None:
        """Return the queues of this member; None if the strategy raises."""
        strategy = self._options.allocate_strategy
        try:
            return strategy(self._client_id, queues, sorted(client_ids))
        except Exception as error:  # an application's own, of any kind
            self._rpc.log_error(f"no queues allocated: {error_text(error)}")
            return None
