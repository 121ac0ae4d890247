"""
High availability: the slaves of a master, the master of a slave (Java: HAService).
"""

from __future__ import annotations

from reference.core.broker.ha.master_connection import MasterConnection
from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.broker.ha.slave_sync import SlaveSync
from reference.core.broker.state import BrokerState
from reference.core.remoting.server import RemotingServer
from spec.host import Host
from spec.wire.ha.slave import ADDRESS_LENGTH_MIN


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
