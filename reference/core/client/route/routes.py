"""
The route table of a client, filled from name servers (Java: MQClientInstance).

A route is requested when it is first needed, and again every 30 seconds. After a failed
connection the next name server is used; one that responds stays in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from reference.core.client.remoting import requests
from reference.core.client.remoting.errors import Failure, Reason
from reference.core.client.remoting.rpc_client import Result, RpcClient, decoded
from spec.routing.route_data import MASTER_ID, TopicRoute, decode_route
from spec.wire.producer.select_queue import ROUTE_PERIOD_MS, ROUTE_TIMEOUT_MS
from spec.wire.remoting.language import Version

RouteCallback = Callable[[TopicRoute | None, int], None]
"""Called with the route, None if it was not found, and the time in ms."""
_UNREACHABLE = frozenset({Reason.CONNECT, Reason.LOST})


class Routes:
    """Every route of a client, by topic."""

    def __init__(
        self,
        rpc: RpcClient,
        name_servers: Sequence[str],
        *,
        period_ms: int = ROUTE_PERIOD_MS,
    ) -> None:
        assert name_servers, "a client needs a name server"
        self._rpc = rpc
        self.versions: dict[str, int] = {}
        """Versions of brokers, by address (Java: MQVersion)."""
        self._servers = list(name_servers)
        self._period_ms = period_ms
        self._routes: dict[str, TopicRoute] = {}
        self._callbacks: dict[str, list[RouteCallback]] = {}

    @property
    def name_servers(self) -> Sequence[str]:
        """Addresses, the one in use first."""
        return tuple(self._servers)

    def start(self, now_ms: int) -> None:
        """Refresh every route periodically, by default every 30 seconds."""
        self._rpc.timers.call_every(  # [CLIENT-PUBLISH-009]
            self._period_ms, self._refresh, first_ms=now_ms + self._period_ms
        )

    def get(self, topic: str) -> TopicRoute | None:
        """Return the route of *topic*, if the table has it."""
        return self._routes.get(topic)

    def put(self, topic: str, route: TopicRoute) -> None:
        """Replace the route of *topic*."""
        self._routes[topic] = route

    def address(self, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Return the address of a broker, from the route of any topic."""
        found = self._addresses(broker_name)
        return next((one[broker_id] for one in found if broker_id in one), None)

    def any_address(self, broker_name: str) -> str | None:
        """Return the address of the master, or of a slave in a route without master."""
        found = self._addresses(broker_name)
        return next((one[min(one)] for one in found if one), None)

    def pull_address(self, broker_name: str, broker_id: int) -> str | None:
        """Return the suggested broker's address, or another of the same name.

        Java: findBrokerAddressInSubscribe.
        """
        address = self.address(broker_name, broker_id)
        return address or self.any_address(broker_name)  # [CLIENT-PULL-003]

    def first_broker(self, route: TopicRoute) -> str | None:
        """Return an address of the first broker in *route*."""
        names = [data.broker_name for data in route.broker_datas]
        return self.any_address(names[0]) if names else None

    def knows_expressions(self, address: str | None) -> bool:
        """Return whether the broker's release has expression types besides tags."""
        # [CLIENT-SUBSCRIBE-004]
        version = self.versions.get(address or "", 0)
        return version >= Version.V4_1_0_SNAPSHOT

    def brokers(self, *, masters_only: bool = False) -> list[str]:
        """Return the addresses of every broker or every master in any route."""
        datas = [one for route in self._routes.values() for one in route.broker_datas]
        return sorted(
            {
                address
                for data in datas
                for broker_id, address in data.addresses.items()
                if broker_id == MASTER_ID or not masters_only
            }
        )

    def find(self, topic: str, callback: RouteCallback, now_ms: int) -> None:
        """Call back with the route of *topic*, from the table or a name server."""
        route = self.get(topic)
        if route is None:
            self.fetch(topic, callback, now_ms=now_ms)
        else:
            callback(route, now_ms)

    def fetch(
        self, topic: str, callback: RouteCallback, *, now_ms: int, keep: bool = True
    ) -> None:
        """Request the route of *topic*; concurrent calls share one request.

        Without *keep* the route is not put into the table.
        """
        callbacks = self._callbacks.setdefault(topic, [])
        callbacks.append(callback)
        if len(callbacks) == 1:
            tries = len(self._servers)
            self._fetch_from(topic, tries=tries, now_ms=now_ms, keep=keep)

    def _fetch_from(self, topic: str, *, tries: int, now_ms: int, keep: bool) -> None:
        def callback(result: Result, later_ms: int) -> None:
            unreachable = isinstance(result, Failure) and result.reason in _UNREACHABLE
            if unreachable:
                self._servers.append(self._servers.pop(0))
            if unreachable and tries > 1:  # [CLIENT-NAMESRV-001]
                left = tries - 1
                self._fetch_from(topic, tries=left, now_ms=later_ms, keep=keep)
                return
            route = decoded(result, decode_route)
            if keep and route is not None:
                self.put(topic, route)
            for on_route in self._callbacks.pop(topic, []):
                on_route(route, later_ms)

        request = requests.get_route(topic)
        # [CLIENT-PUBLISH-010]
        self._rpc.invoke(self._servers[0], request, callback, now_ms, ROUTE_TIMEOUT_MS)

    def _refresh(self, now_ms: int) -> None:
        for topic in tuple(self._routes):
            self.fetch(topic, lambda _route, _now_ms: None, now_ms=now_ms)

    def _addresses(self, broker_name: str) -> Iterator[Mapping[int, str]]:
        """Yield the broker's addresses by broker id, from each route that has it."""
        for route in self._routes.values():
            data = route.broker(broker_name)
            if data is not None:
                yield data.addresses
