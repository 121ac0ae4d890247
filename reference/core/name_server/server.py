"""
The name server (Java: NamesrvController): its tables, handlers and timers.
"""

from __future__ import annotations

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.kv_config import KvConfigTable
from reference.core.name_server.processor_table import processor_table
from reference.core.name_server.route_tables import RouteTables
from reference.core.persistence import RETRY_MS
from reference.core.remoting.server import IDLE_SCAN_MS, RemotingServer

EXPIRY_SCAN_MS = 10_000
EXPIRY_SCAN_FIRST_MS = 5_000


class NameServer(RemotingServer):
    """A name server. Routes live in memory; the other two tables persist themselves."""

    def __init__(
        self,
        kv_config: KvConfigTable | None = None,
        config: NameServerConfig | None = None,
    ) -> None:
        super().__init__()
        self.routes = RouteTables()
        self.kv_config = kv_config or KvConfigTable()
        self.config = config or NameServerConfig()
        self.handlers = processor_table(self.routes, self.kv_config, self.config)
        idle_s = self.config.server_channel_max_idle_time_seconds
        self.idle_limit_ms = 1000 * idle_s
        self._persisted = (self.kv_config.persistence, self.config.persistence)
        for persistence in self._persisted:
            persistence.log_error = self.log_error

    def start(self, now_ms: int) -> None:
        """Start the timers: expiry, idle connections, retried writes."""
        first_ms = now_ms + EXPIRY_SCAN_FIRST_MS
        self.timers.call_every(EXPIRY_SCAN_MS, self._expire, first_ms=first_ms)
        self.timers.call_every(IDLE_SCAN_MS, self.close_idle, first_ms=now_ms)
        for persistence in self._persisted:
            self.timers.call_every(RETRY_MS, persistence.retry, first_ms=now_ms)

    def on_connection_lost(self, connection: int, now_ms: int) -> None:  # noqa: ARG002
        """Remove the broker that registered over the closed connection."""
        self.routes.on_connection_lost(connection)

    def _expire(self, now_ms: int) -> None:
        for connection in self.routes.remove_expired(now_ms):
            self.close(connection, "the broker has not registered for two minutes")
