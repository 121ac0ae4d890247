"""Free ports for servers that are started with port 0."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack

ATTEMPTS = 100


def free_port(host: str, beside: Sequence[int] = ()) -> int:
    """Return a port at which nothing listens, also not *beside* it.

    *beside* are distances from the port. Raises OSError without such a port.
    """
    for _ in range(ATTEMPTS):
        with ExitStack() as bound:
            port = _bind(bound, host, 0)
            try:
                for distance in beside:
                    _bind(bound, host, port + distance)
            except (OSError, OverflowError):
                continue
            return port
    raise OSError(f"no free port at {host}")


def _bind(bound: ExitStack, host: str, port: int) -> int:
    """Bind a socket until *bound* is closed, and return its port."""
    info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    one = bound.enter_context(socket.socket(info[0], info[1]))
    one.bind(info[4])
    port = one.getsockname()[1]
    assert isinstance(port, int)
    return port
