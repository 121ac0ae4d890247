"""
A stage has name servers and brokers that are played, and the routes they tell.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.client.broker import Broker
from conformance.client.player import Asked, Player, answering
from conformance.harness.ports import PortBlock, free_port_block
from spec.routing.route_data import (
    MASTER_ID,
    BrokerData,
    QueueData,
    TopicRoute,
    encode_route,
)
from spec.routing.topic_config import Permission
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

READ_WRITE = Permission.READ | Permission.WRITE
ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
CLUSTER = "DefaultCluster"


class NameServer(Player):
    """Tells routes; a topic that it does not know has none."""

    def __init__(self, name: str, routes: Mapping[str, TopicRoute | bytes]) -> None:
        self._routes = routes
        super().__init__(name)
        self.otherwise = answering(
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not played"
        )
        self.on(ROUTE, self.tell_route)

    def tell_route(self, asked: Asked) -> None:
        """Answer with the route of the topic that is asked for."""
        topic = asked.command.fields.get("topic", "")
        route = self._routes.get(topic)
        if route is None:
            remark = f"No topic route info in name server for the topic: {topic}"
            asked.answer(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        else:
            body = route if isinstance(route, bytes) else encode_route(route)
            asked.answer(0, body=body)

    def questions(self, topic: str) -> list[Asked]:
        """Return the questions so far about *topic*."""
        return [one for one in self.requests(ROUTE) if about(one, topic)]

    def wait_for_questions(self, topic: str, count: int) -> list[Asked]:
        """Return the first *count* questions about *topic*."""
        return self.wait_for(ROUTE, count=count, where=lambda one: about(one, topic))


def about(asked: Asked, topic: str) -> bool:
    """Return whether a question is about *topic*."""
    return asked.command.fields.get("topic") == topic


class Stage:
    """One name server to begin with, and no broker."""

    def __init__(self) -> None:
        self.routes: dict[str, TopicRoute | bytes] = {}
        self.name_servers = [NameServer("name server", self.routes)]
        self.brokers: dict[str, Broker] = {}
        self._blocks: list[PortBlock] = []

    @property
    def name_server(self) -> NameServer:
        """The first name server."""
        return self.name_servers[0]

    @property
    def namesrv(self) -> str:
        """The addresses that a client is given."""
        return ";".join(str(one.address) for one in self.name_servers)

    def another_name_server(self) -> NameServer:
        """Return one more, which tells the same."""
        name = f"name server {len(self.name_servers) + 1}"
        self.name_servers.append(NameServer(name, self.routes))
        return self.name_servers[-1]

    def broker(self, name: str = "broker-a") -> Broker:
        """Return the master of this name, which is there from now on."""
        if name not in self.brokers:
            self.brokers[name] = Broker(name)
        return self.brokers[name]

    def broker_with_vip_port(self, name: str = "broker-a") -> Broker:
        """Return a master that also listens on its port less two."""
        block = free_port_block()
        self._blocks.append(block)
        made = Broker(name, port=block.broker, also=block.vip)
        self.brokers[name] = made
        return made

    def route(
        self,
        topic: str,
        queues: Mapping[str, int],
        *,
        read: int | None = None,
        permission: int = READ_WRITE,
        order: str | None = None,
    ) -> TopicRoute:
        """Tell from now on that brokers have so many *queues* of *topic*."""
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
        """Return where the broker of this name is."""
        address = str(self.broker(name).address)
        return BrokerData(
            cluster=CLUSTER, broker_name=name, addresses={MASTER_ID: address}
        )

    def close(self) -> None:
        """End all of them."""
        for one in (*self.name_servers, *self.brokers.values()):
            one.stop()
        for block in self._blocks:
            block.release()
