"""
The part that producers and consumers share: requests, routes, heartbeats.

Heartbeats register the group of a member with brokers every 30 seconds. Without them a
broker sends no transaction checks and no notification of changed consumer ids. A failed
heartbeat is not repeated; the next one follows (Java: MQClientInstance).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from reference.core.client.message import MessageQueue
from reference.core.client.options import ClientOptions
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.rpc_client import Clock, Result, RpcClient
from reference.core.client.remoting.tasks import start
from reference.core.client.routes import Routes
from reference.core.client.validators import check_name
from reference.core.remoting.request import Request
from reference.core.remoting.response import create_request
from spec.client.liveness import FIRST_HEARTBEAT_MS, HEARTBEAT_TIMEOUT_MS
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.routing.route_data import MASTER_ID
from spec.security.signature import Credentials
from spec.wire.bodies.heartbeat import ConsumerData, HeartbeatData, ProducerData
from spec.wire.bodies.json_body import encode_body
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


class ClientInstance:
    """Requests and routes of one client."""

    def __init__(
        self,
        client_id: str,
        *,
        name_servers: Sequence[str],
        clock: Clock,
        local_offsets: Mapping[MessageQueue, int],
        credentials: Credentials | None = None,
    ) -> None:
        self.client_id = client_id
        self.rpc = RpcClient(clock, credentials)
        self.routes = Routes(self.rpc, name_servers)
        self.local_offsets = dict(local_offsets)
        """Consumer offsets of a broadcasting member, which the shell persists."""

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


class GroupMember(ABC):
    """A producer or a consumer, which is in its group from its start to its stop."""

    def __init__(self, options: ClientOptions, client: ClientInstance) -> None:
        check_name("group", options.group)
        self._periods = options.periods
        self._client = client
        self._rpc, self._routes = client.rpc, client.routes

    @abstractmethod
    def group_data(self) -> ProducerData | ConsumerData:
        """Return the group's part of a heartbeat."""

    def start(self) -> None:
        """Refresh routes and send heartbeats periodically."""
        route_ms, heartbeat_ms = self._periods.route_ms, self._periods.heartbeat_ms
        self._rpc.call_every(route_ms, self._routes.refresh)  # [CLIENT-PUBLISH-009]
        delay_ms = FIRST_HEARTBEAT_MS  # [CLIENT-HEARTBEAT-001]
        self._rpc.call_every(heartbeat_ms, self.send_heartbeats, delay_ms=delay_ms)

    def stop(self) -> None:
        """Send UNREGISTER_CLIENT to every broker."""
        data = self.group_data()
        kind = "producerGroup" if isinstance(data, ProducerData) else "consumerGroup"
        fields = {"clientID": self._client.client_id, kind: data.group}
        request = create_request(RequestCode.UNREGISTER_CLIENT, fields)
        for address in self._routes.brokers():  # [CLIENT-HEARTBEAT-002]
            start(self._rpc.invoke(address, request, HEARTBEAT_TIMEOUT_MS))

    def send_heartbeats(self) -> None:
        """Send a heartbeat to every master, and to slaves if the member consumes."""
        client_id, data = self._client.client_id, self.group_data()
        if isinstance(data, ProducerData):
            body = HeartbeatData(client_id=client_id, producers=(data,))
        else:
            body = HeartbeatData(client_id=client_id, consumers=(data,))
        request = create_request(RequestCode.HEART_BEAT, body=encode_body(body))
        for address in self._routes.brokers(masters_only=not body.consumers):
            start(self._send_heartbeat(address, request))

    async def _send_heartbeat(self, address: str, request: Command) -> None:
        result = await self._rpc.invoke(address, request, HEARTBEAT_TIMEOUT_MS)
        if not isinstance(result, Failure):
            self._on_heartbeat(address, result)

    def _on_heartbeat(self, address: str, response: Request) -> None:
        """Record the version of a broker that has responded to a heartbeat."""
        self._routes.versions[address] = response.version
