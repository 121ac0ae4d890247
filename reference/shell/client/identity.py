"""Address, client id and unique ids of this process."""

from __future__ import annotations

import os
import random
import socket

from reference.core.client.producer.send_request import UniqueIdGenerator
from reference.shell.clock import zone_offset_ms

_LOOPBACK = "127.0.0.1"
_ANYWHERE = ("192.0.2.1", 9)
"""TEST-NET address; its route gives our own address."""


def own_address() -> str:
    """Return the IPv4 address of the outgoing interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ANYWHERE)  # sends nothing
            return str(probe.getsockname()[0])
        except OSError:
            return _LOOPBACK


def client_id(instance: str | None = None) -> str:
    """Return the client id of this process, or of a named *instance*.

    A broadcasting member needs a name: its offsets are stored under its id.
    """
    return f"{own_address()}@{instance or os.getpid()}"  # [CLIENT-HEARTBEAT-003]


def unique_id_generator() -> UniqueIdGenerator:
    """Build the generator of unique ids for this process."""
    return UniqueIdGenerator(
        address=socket.inet_aton(own_address()),
        process_id=os.getpid(),
        program_hash=random_start(),
        zone_offset_ms=zone_offset_ms(),
    )


def random_start() -> int:
    """Return a random number of 31 bits."""
    return random.getrandbits(31)
