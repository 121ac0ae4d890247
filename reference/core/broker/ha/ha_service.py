"""
High availability: the slaves of a master, the master of a slave (Java: HAService).

The commit log has a connection of its own. A slave copies its master's tables every ten
seconds (Java: SlaveSynchronize).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reference.core.broker.ha.master_connection import MasterConnection
from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.server import RemotingServer
from spec.host import Host
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.ha.slave import (
    ADDRESS_LENGTH_MIN,
    SYNCHRONIZE_FIRST_MS,
    SYNCHRONIZE_PERIOD_MS,
)
from spec.wire.remoting.request_code import RequestCode

_UNREADABLE = (LayoutError, LookupError, ValueError, TypeError, AttributeError)
CopyTable = Callable[[Mapping[Any, Any], int], None]
"""Copies a table from the body of a response; the other argument is the time."""


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
        self._tables: Mapping[RequestCode, CopyTable] = {
            RequestCode.GET_ALL_TOPIC_CONFIG: state.topics.follow,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self._copy_offsets,
            RequestCode.GET_ALL_DELAY_OFFSET: self._copy_delay_offsets,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: state.groups.follow,
        }

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

    def connect_completed(self, address: Host, connection: int | None) -> None:
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
        elif self.address is not None:
            self._remoting.connect(self.address)

    def _send_requests(self) -> None:
        if self._connection is None:
            return
        for code, copy_table in self._tables.items():
            on_response = partial(self._on_response, code, copy_table)
            self._remoting.invoke(self._connection, code, {}, on_response=on_response)

    def _on_response(
        self, code: RequestCode, copy_table: CopyTable, response: Request | None
    ) -> None:
        """Copy a table of the master; drop the response of another connection."""
        if response is None or response.connection != self._connection:
            return
        if response.code != 0:
            self._remoting.log_error(
                f"{code.name}: the master responded {response.code}: {response.remark}"
            )
            return
        try:
            body = fastjson.loads(response.body)
            if not isinstance(body, Mapping):
                raise ValueError("the body is no object")
            copy_table(body, response.now_ms)
        except _UNREADABLE as error:
            text = f"the master's response cannot be read: {error}"
            self._remoting.log_error(f"{code.name}: {text}")

    def _copy_offsets(self, body: Mapping[Any, Any], now_ms: int) -> None:  # noqa: ARG002
        self._state.offsets.load(body)  # [HA-SLAVE-005]
        self._state.offsets.is_dirty = True

    def _copy_delay_offsets(
        self,
        body: Mapping[Any, Any],
        now_ms: int,  # noqa: ARG002
    ) -> None:
        table = body.get("offsetTable") or {}
        service = self._state.store.schedule_service
        service.offsets = {int(level): int(offset) for level, offset in table.items()}
        service.persist()  # [HA-SLAVE-006]


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
