"""
The long-lived parts of a broker that its handlers use.

A handler that only reads and changes tables takes `BrokerState`. One that sends frames,
responds later or starts something takes `Ports` besides. The controller builds the
parts. Two of them import handlers themselves, so handlers have only their functions.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.broker.pull.pull_request import Pull
from reference.core.broker.scheduled.flusher import Flusher
from reference.core.remoting.server import RemotingServer


class Ports(Struct, frozen=True):
    """The parts that handlers use."""

    remoting: RemotingServer
    flusher: Flusher
    slaves: SlaveConnections
    hold_pull: Callable[[Pull], None]
    """Holds a pull until a message arrives or its time is up."""
    register_topics: Callable[[], None]
    """Registers all topics with every name server."""
    persist_settings: Callable[[], None]
    """Writes the changed settings to the file that the broker was started with."""
