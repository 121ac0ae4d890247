"""
Filter servers: programs beside a broker that filtered messages by a consumer's class.

They register every few seconds, and the broker passes their addresses on to the name
servers (Java: FilterServerManager). 4.6.0 has kept no more of them.
"""

from __future__ import annotations

SILENCE_MAX_MS = 30_000


class FilterServers:
    """The filter servers that are connected, by connection."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, int]] = {}

    def register(self, connection: int, address: str, now_ms: int) -> None:
        """Record a filter server; the first address of a connection stays."""
        known, _ = self._seen.get(connection, (address, 0))
        self._seen[connection] = known, now_ms

    def drop(self, connection: int) -> None:
        """Remove the filter server of a closed connection."""
        self._seen.pop(connection, None)

    def silent(self, now_ms: int) -> list[int]:
        """Return the connections of filter servers that were silent for too long."""
        return [
            connection
            for connection, (_, seen_ms) in self._seen.items()
            if now_ms - seen_ms > SILENCE_MAX_MS
        ]

    def addresses(self) -> list[str]:
        """Return the addresses of all filter servers."""
        return [address for address, _ in self._seen.values()]
