"""
High availability: the slaves of a master, the master of a slave (Java: HAService).

The commit log has a connection of its own. A slave copies its master's tables every ten
seconds (Java: SlaveSynchronize).
"""

from __future__ import annotations

from functools import partial

from reference.core.broker.config_table import ReplicatedTable
from reference.core.broker.ha.master_connection import MasterConnection
from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.server import RemotingServer
from spec.host import Host
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_object
from spec.wire.ha.slave import (
    ADDRESS_LENGTH_MIN,
    SYNCHRONIZE_FIRST_MS,
    SYNCHRONIZE_PERIOD_MS,
)
from spec.wire.remoting.request_code import RequestCode

_UNREADABLE = (LookupError, ValueError, TypeError, AttributeError)


class SlaveSync:
    """The connection to the broker port of the master, and the requests over it.

    It sends the requests of tools for topics, subscription groups, consumer offsets and
    delay offsets. Where a response cannot be read, the table stays as it is.
    """

    def __init__(self, state: BrokerState, remoting: RemotingServer) -> None:
        self.address: Host | None = None
        """Address of the master, from a name server; None without a master."""
        self._state = state
        self._remoting = remoting
        self._connection: int | None = None

    def start(self, now_ms: int) -> None:
        """Start the timer."""
        self._remoting.timers.call_every(  # [HA-SLAVE-008]
            SYNCHRONIZE_PERIOD_MS,
            self._synchronize,
            first_ms=now_ms + SYNCHRONIZE_FIRST_MS,
        )

    def set_master(self, address: Host | None) -> None:
        """Use another master from now on, or no master."""
        if address != self.address and self._connection is not None:
            self._remoting.close(self._connection, "the master is elsewhere")
            self._connection = None
        self.address = address

    def _connect_completed(self, address: Host, connection: int | None) -> None:
        """Send the requests over a new connection to the master."""
        if address == self.address and self._connection is None:
            self._connection = connection
            self._send_requests()

    def connection_lost(self, connection: int) -> None:
        """Release a closed connection."""
        if connection == self._connection:
            self._connection = None

    def _synchronize(self, now_ms: int) -> None:  # noqa: ARG002
        if self._connection is not None:
            self._send_requests()
        elif (address := self.address) is not None:
            self._remoting.connect(
                address, lambda number, _: self._connect_completed(address, number)
            )

    def _send_requests(self) -> None:
        if self._connection is None:
            return
        for code, table in self._state.replicated_tables.items():
            on_response = partial(self._on_response, RequestCode(code).name, table)
            self._remoting.invoke(self._connection, code, {}, on_response=on_response)

    def _on_response(
        self, name: str, table: ReplicatedTable, response: Request | None
    ) -> None:
        """Copy a table of the master; drop the response of another connection."""
        if response is None or response.connection != self._connection:
            return
        error = ""
        if response.code != 0:
            error = f"the master responded {response.code}: {response.remark}"
        else:
            try:
                content = as_object(fastjson.loads(response.body))
                table.synchronize(content, response.now_ms)
            except _UNREADABLE as failure:
                error = f"the master's response cannot be read: {failure}"
        if error:
            self._remoting.log_error(f"{name}: {error}")


class HAService:
    """Transfer of the commit log, and slave sync of the tables."""

    def __init__(self, state: BrokerState, remoting: RemotingServer) -> None:
        self.slaves = SlaveConnections(remoting, state.store, state.options)
        self.master = MasterConnection(remoting, state.store, state.options)
        self.slave_sync = SlaveSync(state, remoting)
        self._state = state
        self._remoting = remoting
        self._masters: dict[Host, str] = {}
        """Address of the master that each name server has returned."""

    def start(self, now_ms: int) -> None:
        """Serve slaves; a slave also connects to its master."""
        self.slaves.start(now_ms)
        if self._state.options.is_slave:
            configured = self._state.options.ha_master_address
            if len(configured) >= ADDRESS_LENGTH_MIN:  # [HA-SLAVE-001]
                self.master.address = configured
            self.master.start(now_ms)
            self.slave_sync.start(now_ms)

    def on_registered(self, name_server: Host, *, master: str, ha_server: str) -> None:
        """Use the addresses of the master in the response to a registration."""
        if not self._state.options.is_slave:
            return
        configured = self._state.options.ha_master_address
        if ha_server and len(configured) < ADDRESS_LENGTH_MIN:  # [HA-SLAVE-016]
            self.master.address = ha_server
        self._masters[name_server] = master
        known = next(filter(None, self._masters.values()), "")
        self.slave_sync.set_master(self._host(known) if known else None)

    def _host(self, text: str) -> Host | None:
        address, _, port = text.rpartition(":")
        try:
            return Host.of(address.strip("[]"), int(port))
        except ValueError:
            self._remoting.log_error(f"the master's address {text!r} is no address")
            return None
