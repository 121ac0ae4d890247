"""
The other copies of a broker's log: its slaves if it is a master, its master if not.

What travels between them is in ``reference.core.replication``; here is who is who.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.broker.slave_sync import SlaveSync
from reference.core.replication.master import Master
from reference.core.replication.slaves import Slaves
from spec.host import Host
from spec.wire.slave import ADDRESS_LENGTH_MIN

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


class Replicas:
    """What one broker has to do with the copies of its log."""

    def __init__(self, broker: Broker) -> None:
        self.slaves = Slaves(broker, broker.store, broker.options)
        self.master = Master(broker, broker.store, broker.options)
        self.tables = SlaveSync(broker)
        self._broker = broker
        self._told: dict[Host, str] = {}
        """By name server, the master that it named."""

    def start(self, now_ms: int) -> None:
        """Wait for slaves; a slave also looks for its master."""
        self.slaves.start(now_ms)
        if self._broker.options.is_slave:
            configured = self._broker.options.settings["haMasterAddress"]
            if len(configured) >= ADDRESS_LENGTH_MIN:  # [HA-SLAVE-001]
                self.master.address = configured
            self.master.start(now_ms)
            self.tables.start(now_ms)

    def told(self, name_server: Host, *, master: str, replication: str) -> None:
        """Use what a name server says about the master and its port for slaves."""
        if not self._broker.options.is_slave:
            return
        configured = self._broker.options.settings["haMasterAddress"]
        if replication and len(configured) < ADDRESS_LENGTH_MIN:  # [HA-SLAVE-016]
            self.master.address = replication
        self._told[name_server] = master
        named = next(filter(None, self._told.values()), "")
        self.tables.look_to(self._host(named) if named else None)

    def _host(self, text: str) -> Host | None:
        address, _, port = text.rpartition(":")
        try:
            return Host.of(address.strip("[]"), int(port))
        except ValueError:
            self._broker.complain(f"the master's address {text!r} is no address")
            return None
