"""
Filter servers: programs beside a broker that filtered by a class of the consumer's.

They say every few seconds that they are there, and the broker tells name servers of
them. Nothing else of them is left in 4.6.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.request import Request

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

SILENCE_MAX_MS = 30_000


class FilterServers:
    """The filter servers that are connected, by connection."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, int]] = {}

    def register(self, connection: int, address: str, now_ms: int) -> None:
        """Note a life sign; the address that a connection named first stays."""
        known, _ = self._seen.get(connection, (address, 0))
        self._seen[connection] = known, now_ms

    def drop(self, connection: int) -> None:
        """Forget who is gone."""
        self._seen.pop(connection, None)

    def silent(self, now_ms: int) -> list[int]:
        """Return the connections of those that were silent for too long."""
        return [
            connection
            for connection, (_, seen_ms) in self._seen.items()
            if now_ms - seen_ms > SILENCE_MAX_MS
        ]

    def addresses(self) -> list[str]:
        """Return where they are."""
        return [address for address, _ in self._seen.values()]


def register_filter_server(broker: Broker, request: Request) -> Answer:
    """Note a filter server, and say whose it is."""
    address = request.text("filterServerAddr")
    broker.filter_servers.register(request.connection, address, request.now_ms)
    options = broker.options  # [ADMIN-FILTER-001]
    return Answer(fields={"brokerId": options.broker_id, "brokerName": options.name})
