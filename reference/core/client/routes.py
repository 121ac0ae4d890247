"""
The routes that a client knows, and how it gets them from name servers.

A route is asked for when it is first needed and again every 30 seconds. A name server
that cannot be reached is left for the next one; one that answers is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import Failure, Reason
from reference.core.client.requests import route_question
from reference.core.request import Request
from spec.layout import LayoutError
from spec.routing.route_data import MASTER_ID, TopicRoute, decode_route
from spec.wire.producer_queues import ROUTE_PERIOD_MS, ROUTE_TIMEOUT_MS
from spec.wire.response_code import ResponseCode

FoundRoute = Callable[[TopicRoute | None, int], None]
_UNREACHABLE = frozenset({Reason.CONNECT, Reason.LOST})


class Routes:
    """Every route that a client uses, by topic."""

    def __init__(
        self,
        asker: Asker,
        name_servers: Sequence[str],
        *,
        period_ms: int = ROUTE_PERIOD_MS,
    ) -> None:
        assert name_servers, "a client needs a name server"
        self._asker = asker
        self.versions: dict[str, int] = {}
        """What brokers said that they are, by their addresses (Java: MQVersion)."""
        self._servers = list(name_servers)
        self._period_ms = period_ms
        self._routes: dict[str, TopicRoute] = {}
        self._asked: dict[str, list[FoundRoute]] = {}

    @property
    def name_servers(self) -> Sequence[str]:
        """Who is asked, the present one first."""
        return tuple(self._servers)

    def start(self, now_ms: int) -> None:
        """Ask again for every route, from now on, every 30 seconds unless told."""
        self._asker.schedule.every(  # [CLIENT-PUBLISH-009]
            self._period_ms, self._refresh, first_ms=now_ms + self._period_ms
        )

    def known(self, topic: str) -> TopicRoute | None:
        """Return the route of *topic*, if it was found before."""
        return self._routes.get(topic)

    def keep(self, topic: str, route: TopicRoute) -> None:
        """Use *route* for *topic* from now on."""
        self._routes[topic] = route

    def address(self, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Return where a broker is reached, of whatever topic its route was."""
        for route in self._routes.values():
            data = route.broker(broker_name)
            if data is not None and broker_id in data.addresses:
                return data.addresses[broker_id]
        return None

    def any_address(self, broker_name: str) -> str | None:
        """Return where a broker of this name is reached, the master if there is one."""
        for route in self._routes.values():
            data = route.broker(broker_name)
            if data is not None and data.addresses:
                return data.addresses[min(data.addresses)]
        return None

    def masters(self) -> list[str]:
        """Return the addresses of every master in any route."""
        return sorted(
            {
                data.addresses[MASTER_ID]
                for route in self._routes.values()
                for data in route.broker_datas
                if MASTER_ID in data.addresses
            }
        )

    def brokers(self) -> list[str]:
        """Return the addresses of every broker in any route."""
        datas = [one for route in self._routes.values() for one in route.broker_datas]
        return sorted({found for one in datas for found in one.addresses.values()})

    def ask(
        self, topic: str, then: FoundRoute, *, now_ms: int, keep: bool = True
    ) -> None:
        """Ask for the route of *topic*; who asks meanwhile waits for the same answer.

        Without *keep* it is not used, nor asked for again.
        """
        waiting = self._asked.setdefault(topic, [])
        waiting.append(then)
        if len(waiting) == 1:
            tries = len(self._servers)
            self._ask_server(topic, tries=tries, now_ms=now_ms, keep=keep)

    def _ask_server(self, topic: str, *, tries: int, now_ms: int, keep: bool) -> None:
        def then(outcome: Outcome, later_ms: int) -> None:
            unreachable = (
                isinstance(outcome, Failure) and outcome.reason in _UNREACHABLE
            )
            if unreachable:
                self._servers.append(self._servers.pop(0))
            if unreachable and tries > 1:  # [CLIENT-NAMESRV-001]
                left = tries - 1
                self._ask_server(topic, tries=left, now_ms=later_ms, keep=keep)
                return
            self._answered(topic, outcome, later_ms, keep=keep)

        until_ms = now_ms + ROUTE_TIMEOUT_MS  # [CLIENT-PUBLISH-010]
        self._asker.ask(
            self._servers[0], route_question(topic), then, until_ms=until_ms
        )

    def _answered(
        self, topic: str, outcome: Outcome, now_ms: int, *, keep: bool
    ) -> None:
        route = _route_of(outcome)
        if keep and route is not None:
            self.keep(topic, route)
        for then in self._asked.pop(topic, []):
            then(route, now_ms)

    def _refresh(self, now_ms: int) -> None:
        for topic in tuple(self._routes):
            self.ask(topic, lambda _route, _now_ms: None, now_ms=now_ms)


def _route_of(outcome: Outcome) -> TopicRoute | None:
    if not isinstance(outcome, Request) or outcome.code != ResponseCode.SUCCESS:
        return None
    try:
        return decode_route(outcome.body)
    except LayoutError:
        return None
