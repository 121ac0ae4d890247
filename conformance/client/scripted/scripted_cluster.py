"""
A scripted cluster: name servers, brokers, and the routes between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_server import (
    Alter,
    ReceivedRequest,
    ScriptedServer,
    is_about,
    responding,
    unaltered,
)
from conformance.harness.process.ports import PortBlock, free_port_block
from spec.routing.route_data import (
    MASTER_ID,
    BrokerData,
    QueueData,
    TopicRoute,
    encode_route,
)
from spec.routing.topic_config import Permission
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

READ_WRITE = Permission.READ | Permission.WRITE
ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
CLUSTER = "DefaultCluster"


class NameServer(ScriptedServer):
    """A scripted name server with a route table."""

    def __init__(
        self, name: str, routes: Mapping[str, TopicRoute | bytes], *, is_5x: bool
    ) -> None:
        self._routes = routes
        self._is_5x = is_5x
        super().__init__(name)
        self.default_script = responding(
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not played"
        )
        self.on(ROUTE, self.respond_route)

    def respond_route(self, request: ReceivedRequest) -> None:
        """Respond with the route of a topic, or TOPIC_NOT_EXIST."""
        topic = request.command.fields.get("topic", "")
        route = self._routes.get(topic)
        if route is None:
            remark = f"No topic route info in name server for the topic: {topic}"
            request.respond(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        else:
            request.respond(0, body=self._body(route))

    def _body(self, route: TopicRoute | bytes) -> bytes:
        if isinstance(route, bytes):
            return route
        if self._is_5x:
            return encode_route(route, flags_name="topicSysFlag", acting_master=False)
        return encode_route(route)

    def route_requests(self, topic: str) -> list[ReceivedRequest]:
        """Return the route requests received for *topic*."""
        return [one for one in self.requests(ROUTE) if is_about(topic, one)]

    def wait_for_route_requests(self, topic: str, count: int) -> list[ReceivedRequest]:
        """Wait for *count* route requests for *topic*, and return them."""
        return self.wait_for(ROUTE, count=count, where=lambda one: is_about(topic, one))


class ScriptedCluster:
    """One name server at first, and brokers on demand.

    With *is_5x*, routes have the fields that a name server of 5.x writes.
    """

    def __init__(self, alter: Alter = unaltered, *, is_5x: bool = False) -> None:
        self._alter = alter
        self._is_5x = is_5x
        self._is_futile: Callable[[], bool] = lambda: False
        self.routes: dict[str, TopicRoute | bytes] = {}
        self.name_servers = [NameServer("name server", self.routes, is_5x=is_5x)]
        self.brokers: dict[str, ScriptedBroker] = {}
        self._blocks: list[PortBlock] = []

    def end_waits(self, is_futile: Callable[[], bool]) -> None:
        """End each wait for a request as soon as *is_futile* returns True."""
        self._is_futile = is_futile
        for one in (*self.name_servers, *self.brokers.values()):
            one.is_futile = is_futile

    @property
    def name_server(self) -> NameServer:
        """The first name server."""
        return self.name_servers[0]

    @property
    def namesrv(self) -> str:
        """The name server addresses for a client."""
        return ";".join(str(one.address) for one in self.name_servers)

    def add_name_server(self) -> NameServer:
        """Add a name server with the same routes."""
        name = f"name server {len(self.name_servers) + 1}"
        made = NameServer(name, self.routes, is_5x=self._is_5x)
        made.is_futile = self._is_futile
        self.name_servers.append(made)
        return made

    def broker(self, name: str = "broker-a") -> ScriptedBroker:
        """Return the master of this name, started on demand."""
        if name not in self.brokers:
            self._add(ScriptedBroker(name))
        return self.brokers[name]

    def broker_with_vip_port(self, name: str = "broker-a") -> ScriptedBroker:
        """Start a master with a VIP port, its port less 2."""
        block = free_port_block()
        self._blocks.append(block)
        return self._add(ScriptedBroker(name, port=block.broker, vip_port=block.vip))

    def _add(self, broker: ScriptedBroker) -> ScriptedBroker:
        broker.alter, broker.is_futile = self._alter, self._is_futile
        self.brokers[broker.name] = broker
        return broker

    def route(
        self,
        topic: str,
        queues: Mapping[str, int],
        *,
        read: int | None = None,
        permission: int = READ_WRITE,
        order: str | None = None,
    ) -> TopicRoute:
        """Set the route of *topic*, with the number of queues by broker."""
        made = TopicRoute(
            queue_datas=tuple(
                QueueData(
                    broker_name=name,
                    read_queue_count=count if read is None else read,
                    write_queue_count=count,
                    permission=permission,
                )
                for name, count in queues.items()
            ),
            broker_datas=tuple(self.data(name) for name in queues),
            order_topic_config=order,
        )
        self.routes[topic] = made
        return made

    def data(self, name: str) -> BrokerData:
        """Return the broker's part of a route."""
        address = str(self.broker(name).address)
        return BrokerData(
            cluster=CLUSTER, broker_name=name, addresses={MASTER_ID: address}
        )

    def close(self) -> None:
        """Stop all servers."""
        for one in (*self.name_servers, *self.brokers.values()):
            one.stop()
        for block in self._blocks:
            block.release()


def with_slave(
    cluster: ScriptedCluster, topic: str, *, has_master: bool = True
) -> tuple[ScriptedBroker, ScriptedBroker]:
    """Return a master and a slave of the topic; its route may lack the master."""
    route = cluster.route(topic, {"broker-a": 1})
    master, slave = cluster.broker("broker-a"), cluster.broker("slave of broker-a")
    data = BrokerData(
        cluster=CLUSTER,
        broker_name="broker-a",
        addresses={
            **({MASTER_ID: str(master.address)} if has_master else {}),
            1: str(slave.address),
        },
    )
    cluster.routes[topic] = TopicRoute(
        queue_datas=route.queue_datas, broker_datas=(data,)
    )
    return master, slave
