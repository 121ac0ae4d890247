"""
The part that a client's producer or consumer builds upon: requests, routes, heartbeats.

Heartbeats register its groups with brokers every 30 seconds. Without them a broker
sends no transaction checks and no notification of changed consumer ids. A failed
heartbeat is not repeated; the next one follows (Java: MQClientInstance).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reference.core.client.message import MessageQueue
from reference.core.client.options import DEFAULT_PERIODS, ClientOptions, Periods
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Clock, Result, RpcClient
from reference.core.client.remoting.tasks import start
from reference.core.client.routes import Routes
from reference.core.client.validators import check_group
from reference.core.remoting.response import create_request
from spec.client.liveness import FIRST_HEARTBEAT_MS, HEARTBEAT_TIMEOUT_MS
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.routing.route_data import MASTER_ID
from spec.security.signature import Credentials
from spec.wire.bodies.heartbeat import (
    ConsumerData,
    HeartbeatData,
    ProducerData,
    SubscriptionData,
)
from spec.wire.bodies.json_body import encode_body
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


class ClientInstance:
    """Requests and routes of one client, and the groups that it registers."""

    def __init__(
        self,
        client_id: str,
        *,
        name_servers: Sequence[str],
        clock: Clock,
        periods: Periods = DEFAULT_PERIODS,
        credentials: Credentials | None = None,
    ) -> None:
        self.client_id = client_id
        self.rpc = RpcClient(clock, credentials)
        self.routes = Routes(self.rpc, name_servers, period_ms=periods.route_ms)
        self.producer: ProducerData | None = None
        self.consumer: ConsumerData | None = None
        self.local_offsets: dict[MessageQueue, int] = {}
        """Consumer offsets of a broadcasting member, which the shell persists."""
        self.on_heartbeat: Callable[[], None] = lambda: None
        """Called after a heartbeat that has a response."""
        self._heartbeat_ms = periods.heartbeat_ms

    @property
    def subscriptions(self) -> Sequence[SubscriptionData]:
        """The subscriptions of the consumer."""
        return () if self.consumer is None else self.consumer.subscriptions

    def start(self) -> None:
        """Refresh routes and send heartbeats periodically."""
        self.routes.start()
        delay_ms = FIRST_HEARTBEAT_MS  # [CLIENT-HEARTBEAT-001]
        self.rpc.call_every(self._heartbeat_ms, self.send_heartbeats, delay_ms=delay_ms)

    def send_heartbeats(self) -> None:
        """Send a heartbeat to every master, and to slaves if the client consumes."""
        body = encode_body(self.heartbeat())
        request = create_request(RequestCode.HEART_BEAT, body=body)
        for address in self.routes.brokers(masters_only=self.consumer is None):
            start(self._send_heartbeat(address, request))

    def heartbeat(self) -> HeartbeatData:
        """Return the body of HEART_BEAT."""
        return HeartbeatData(
            client_id=self.client_id,
            producers=() if self.producer is None else (self.producer,),
            consumers=() if self.consumer is None else (self.consumer,),
        )

    def unregister(self) -> None:
        """Send UNREGISTER_CLIENT to every broker, for each group."""
        groups = {"producerGroup": self.producer, "consumerGroup": self.consumer}
        for name, member in groups.items():
            if member is None:
                continue
            fields = {"clientID": self.client_id, name: member.group}
            request = create_request(RequestCode.UNREGISTER_CLIENT, fields)
            for address in self.routes.brokers():  # [CLIENT-HEARTBEAT-002]
                start(self.rpc.invoke(address, request, HEARTBEAT_TIMEOUT_MS))

    async def find_broker(
        self, queue: MessageQueue, broker_id: int = MASTER_ID
    ) -> str | None:
        """Return a broker's address.

        The route is fetched only if no route has an address of the queue's broker.
        """
        address = self.routes.pull_address(queue.broker_name, broker_id)
        if address is None:
            await self.routes.fetch(queue.topic)
            address = self.routes.pull_address(queue.broker_name, broker_id)
        return address

    async def invoke_broker(
        self,
        queue: MessageQueue,
        request: Command,
        *,
        timeout_ms: int = OFFSET_TIMEOUT_MS,
        broker_id: int = MASTER_ID,
    ) -> Result:
        """Send *request* to a broker of *queue*; return the result."""
        address = await self.find_broker(queue, broker_id)
        return await self.rpc.invoke(address, request, timeout_ms)

    async def _send_heartbeat(self, address: str, request: Command) -> None:
        result = await self.rpc.invoke(address, request, HEARTBEAT_TIMEOUT_MS)
        if not isinstance(result, Failure):
            self.routes.versions[address] = result.version
            self.on_heartbeat()


class GroupMember:
    """A producer or a consumer, which is in its group from its start to its stop."""

    def __init__(self, options: ClientOptions, client: ClientInstance) -> None:
        check_group(options.group)
        self._client = client
        self._rpc, self._routes = client.rpc, client.routes

    def start(self) -> None:
        """Register the group with brokers."""
        self._client.start()

    def stop(self) -> None:
        """Leave the group."""
        self._client.unregister()
