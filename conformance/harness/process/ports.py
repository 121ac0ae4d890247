"""
Ports for one cluster: blocks of four consecutive ports.

A broker on *p* also listens on *p - 2* (for clients with the VIP channel) and on *p +
1* (for its slaves). Between the check and the broker's bind, parallel pytest workers
must not choose the same block. A block is therefore a file lock, which the operating
system releases when its holder dies. Blocks are below the range of outgoing
connections.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

FIRST_PORT = 12_000
"""First port of the first block."""

LOOPBACK = "127.0.0.1"
CONNECT_S = 5.0
"""Seconds for a connection within this machine, however busy."""

BLOCK_COUNT = 4_000
"""Number of blocks; the last ends at 27,999."""


class NoFreePortError(Exception):
    """Every block that was tried is taken, or no client can connect to a port."""


@dataclass(slots=True, kw_only=True)
class PortBlock:
    """Four consecutive ports that are ours until `release`."""

    vip: int
    _lock: IO[bytes] = field(repr=False)

    @property
    def name_server(self) -> int:
        """The port between the VIP port and the broker, free for a name server."""
        return self.vip + 1

    @property
    def broker(self) -> int:
        """The broker's own port (Java: listenPort)."""
        return self.vip + 2

    @property
    def ha(self) -> int:
        """The port that slaves connect to (Java: haListenPort)."""
        return self.vip + 3

    def release(self) -> None:
        """Let others have the block."""
        self._lock.close()


def free_port_block() -> PortBlock:
    """Return a block of which no port is in use and no other run holds the lock."""
    check_loopback()
    directory = Path(tempfile.gettempdir()) / f"rocketmq-conformance-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    for _ in range(200):
        number = random.randrange(BLOCK_COUNT)  # noqa: S311 - spreads the workers
        lock = (directory / f"block-{number}.lock").open("wb")
        if _locked(lock) and _all_free(FIRST_PORT + 4 * number):
            return PortBlock(vip=FIRST_PORT + 4 * number, _lock=lock)
        lock.close()
    raise NoFreePortError(f"no free block of four ports from {FIRST_PORT} on")


def check_loopback() -> None:
    """Raise NoFreePortError where this machine cannot connect to itself."""
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            socket.create_connection(server.getsockname(), CONNECT_S).close()
    except OSError as error:
        reason = error.strerror or error
        raise NoFreePortError(f"cannot connect to {LOOPBACK}: {reason}") from None


@contextlib.contextmanager
def port_block() -> Iterator[PortBlock]:
    """Hold a block for the duration of a `with`."""
    block = free_port_block()
    try:
        yield block
    finally:
        block.release()


def _locked(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _all_free(first: int) -> bool:
    for port in range(first, first + 4):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))  # noqa: S104 - brokers bind everywhere
            except OSError:
                return False
    return True
