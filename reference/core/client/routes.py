"""
The routes of a client, filled from name servers (Java: MQClientInstance), and queues.

A route is requested when it is first needed, and again at each refresh. After a failed
connection the next name server is used; one that responds stays in use.

The queues of a topic are derived from its route. A producer uses queues with PERM_WRITE
on brokers with a master. A consumer uses queues with PERM_READ. Name servers apply
neither rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reference.core.client.message import MessageQueue
from reference.core.client.remoting.errors import Failure, Reason
from reference.core.client.remoting.rpc_client import RpcClient, decoded
from reference.core.client.remoting.tasks import Wait, begin, start
from reference.core.remoting.response import create_request
from spec.integers import parse_java_int
from spec.layout import LayoutError
from spec.routing.route_data import MASTER_ID, TopicRoute, decode_route
from spec.routing.topic_config import Permission
from spec.wire.producer.producer import QUEUES_OF_A_NEW_TOPIC
from spec.wire.producer.select_queue import ROUTE_TIMEOUT_MS
from spec.wire.remoting.connection import VIP_PORT_DISTANCE
from spec.wire.remoting.language import Version
from spec.wire.remoting.request_code import RequestCode

QUEUES_MAX = 1_000_000
"""Queues of a usable route; Java has no limit, and 2,147,483,647 fill its memory."""
_UNREACHABLE = frozenset({Reason.CONNECT, Reason.LOST})


class Routes:
    """Every route of a client, by topic."""

    def __init__(self, rpc: RpcClient, name_servers: Sequence[str]) -> None:
        assert name_servers, "a client needs a name server"
        self._rpc = rpc
        self.versions: dict[str, int] = {}
        """Versions of brokers, by address (Java: MQVersion)."""
        self._servers = list(name_servers)
        self.table: dict[str, TopicRoute] = {}
        """Routes by topic, the newest last (Java: topicRouteTable)."""
        self._requested: dict[str, Wait[TopicRoute | None]] = {}
        """By topic: routes that name servers have not returned yet."""
        self._unanswered: dict[str, str] = {}
        """Failures of the name servers at the last request for a topic's route."""

    @property
    def name_servers(self) -> Sequence[str]:
        """Addresses, the one in use first."""
        return tuple(self._servers)

    def address(self, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Return the address of a broker, from the newest route that has its name."""
        return self._addresses(broker_name).get(broker_id)

    def any_address(self, broker_name: str) -> str | None:
        """Return the address of the master, or of a slave in a route without master."""
        found = self._addresses(broker_name)
        return found[min(found)] if found else None

    def pull_address(self, broker_name: str, broker_id: int) -> str | None:
        """Return the suggested broker's address, or another of the same name.

        Java: findBrokerAddressInSubscribe.
        """
        address = self.address(broker_name, broker_id)
        return address or self.any_address(broker_name)  # [CLIENT-PULL-003]

    def any_broker(self, route: TopicRoute, number: int = 0) -> str | None:
        """Return the address of a broker in *route*, of another for the next *number*.

        Java chooses at random, so that one silent broker does not stop a group
        (MQClientInstance#findBrokerAddrByTopic).
        """
        names = [data.broker_name for data in route.broker_datas]
        return self.any_address(names[number % len(names)]) if names else None

    def knows_expressions(self, address: str | None) -> bool:
        """Return whether the broker's release has expression types besides tags."""
        # [CLIENT-SUBSCRIBE-004]
        version = self.versions.get(address or "", 0)
        return version >= Version.V4_1_0_SNAPSHOT

    def brokers(self, *, masters_only: bool = False) -> list[str]:
        """Return the addresses of every broker or every master in any route."""
        routes = self.table.values()
        names = {data.broker_name for route in routes for data in route.broker_datas}
        return sorted(
            {
                address
                for name in names
                for broker_id, address in self._addresses(name).items()
                if broker_id == MASTER_ID or not masters_only
            }
        )

    def missing(self, topic: str) -> Failure:
        """Return the failure of a call that needs the route of *topic*.

        It names the name servers if none has responded.
        """
        if unanswered := self._unanswered.get(topic):
            return Failure(reason=Reason.NO_NAME_SERVER, remark=unanswered)
        return Failure(reason=Reason.NO_ROUTE, remark=topic)

    async def find(self, topic: str) -> TopicRoute | None:
        """Return a topic's route, from the table or a name server."""
        return self.table.get(topic) or await self.fetch(topic)

    async def fetch(self, topic: str) -> TopicRoute | None:
        """Request the route of *topic*, and put it into the table.

        None without a route; the table then keeps the route that it has.
        """
        route = await self.request(topic)
        if route is not None:
            self.table.pop(topic, None)
            self.table[topic] = route
        return route

    async def request(self, topic: str) -> TopicRoute | None:
        """Request the route of *topic*; concurrent calls share one request.

        None if no name server has responded, or none has the route.
        """
        if topic not in self._requested:
            self._requested[topic] = begin(self._request(topic))
        return await self._requested[topic]

    async def _request(self, topic: str) -> TopicRoute | None:
        """Send the request to one name server after the other, until one responds."""
        failures = []
        request = create_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
        for _ in range(len(self._servers)):  # [CLIENT-NAMESRV-001]
            server = self._servers[0]
            # [CLIENT-PUBLISH-010]
            result = await self._rpc.invoke(server, request, ROUTE_TIMEOUT_MS)
            if isinstance(result, Failure):
                failures.append(f"{server}: {result.reason.value}")
            else:
                failures.clear()
            if not isinstance(result, Failure) or result.reason not in _UNREACHABLE:
                break
            self._servers.append(self._servers.pop(0))
        self._unanswered[topic] = ", ".join(failures)
        route = decoded(result, _decode_usable_route)
        del self._requested[topic]
        return route

    def refresh(self) -> None:
        """Fetch every route again."""
        for topic in tuple(self.table):
            start(self.fetch(topic))

    def _addresses(self, broker_name: str) -> Mapping[int, str]:
        """Return the broker's addresses by broker id, from the newest route with it.

        A deleted topic keeps its route, whose addresses become outdated.
        """
        for route in reversed(self.table.values()):
            data = route.broker(broker_name)
            if data is not None:
                return data.addresses
        return {}


def _decode_usable_route(body: bytes) -> TopicRoute:
    """Decode a route; raise LayoutError where its queues cannot be listed.

    4.6.0 does not replace its route either, after an exception in
    org.apache.rocketmq.client.impl.factory.MQClientInstance
    #topicRouteData2TopicPublishInfo.
    """
    route = decode_route(body)
    order = _ordered_counts(route.order_topic_config or "")
    counts = [max(d.read_queue_count, d.write_queue_count) for d in route.queue_datas]
    queue_count = sum(max(0, one) for one in (*counts, *(n for _, n in order)))
    if queue_count > QUEUES_MAX:
        raise LayoutError(f"a route with {queue_count} queues", field="queueDatas")
    return route


def publish_queues(topic: str, route: TopicRoute) -> tuple[MessageQueue, ...]:
    """Return the writable queues of *topic* in order (Java: TopicPublishInfo)."""
    if route.order_topic_config:  # [CLIENT-PUBLISH-008]
        return _ordered_queues(topic, route.order_topic_config)
    found = []
    for data in sorted(route.queue_datas, key=lambda data: data.broker_name):
        if not data.permission & Permission.WRITE:  # [CLIENT-PUBLISH-005]
            continue
        broker = route.broker(data.broker_name)
        if broker is None or MASTER_ID not in broker.addresses:
            continue  # [CLIENT-PUBLISH-006]
        numbers = range(data.write_queue_count)  # [CLIENT-PUBLISH-007]
        found += [MessageQueue(topic, data.broker_name, number) for number in numbers]
    return tuple(found)


def subscribe_queues(topic: str, route: TopicRoute) -> tuple[MessageQueue, ...]:
    """Return the readable queues of *topic*, sorted."""
    return tuple(
        sorted(
            MessageQueue(topic, data.broker_name, number)
            for data in route.queue_datas
            if data.permission & Permission.READ  # [CLIENT-SUBSCRIBE-001]
            for number in range(data.read_queue_count)
        )
    )


def default_route(
    route: TopicRoute, *, queue_count: int = QUEUES_OF_A_NEW_TOPIC
) -> TopicRoute:
    """Return the route of a topic to create, derived from the default topic's *route*.

    A broker creates it with the smaller of two counts: the default topic's queues, and
    the producer's setting.
    """
    datas = []
    for data in route.queue_datas:
        count = min(queue_count, data.read_queue_count)  # [CLIENT-PUBLISH-003]
        datas.append(replace(data, read_queue_count=count, write_queue_count=count))
    return replace(route, queue_datas=tuple(datas))


def vip_address(address: str) -> str:
    """Return the VIP address of the broker at *address*: its port less 2."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) - VIP_PORT_DISTANCE}"  # [CLIENT-SEND-010]


def _ordered_queues(topic: str, text: str) -> tuple[MessageQueue, ...]:
    return tuple(
        MessageQueue(topic, broker, number)
        for broker, count in _ordered_counts(text)
        for number in range(count)
    )


def _ordered_counts(text: str) -> list[tuple[str, int]]:
    """Return broker and queue count of each pair; LayoutError without a count."""
    counts = []
    for pair in filter(None, text.split(";")):
        broker, *words = pair.split(":")
        count = parse_java_int(words[0]) if words else None
        if count is None:
            raise LayoutError(f"{pair!r} has no count", field="orderTopicConf")
        counts.append((broker, count))
    return counts
