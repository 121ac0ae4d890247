"""Who this process is, as unique keys and heartbeats say it."""

from __future__ import annotations

import os
import random
import socket

from reference.core.client.unique_keys import KeyMaker, Sender
from reference.shell.clock import zone_offset_ms

_LOOPBACK = "127.0.0.1"
_ANYWHERE = ("192.0.2.1", 9)
"""An address of no one: to see by which of our own we would go there."""


def own_address() -> str:
    """Return the IPv4 address by which this machine reaches others."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_ANYWHERE)  # sends nothing
            return str(asked.getsockname()[0])
        except OSError:
            return _LOOPBACK


def client_id(instance: str | None = None) -> str:
    """Return the id of a client in this process, or of an *instance* that has a name.

    A member of a broadcasting group wants one: by its id it finds its offsets again.
    """
    return f"{own_address()}@{instance or os.getpid()}"  # [CLIENT-HEARTBEAT-003]


def key_maker() -> KeyMaker:
    """Return what makes unique keys for a client in this process."""
    return KeyMaker(
        Sender(
            address=socket.inet_aton(own_address()),
            process_id=os.getpid(),
            program_hash=random_start(),
            zone_offset_ms=zone_offset_ms(),
        )
    )


def random_start() -> int:
    """Return any number of 31 bits: where a turn begins, or what tells us apart."""
    return random.getrandbits(31)
