"""
A large receive window for connections over loopback (Linux: TCP_WINDOW_CLAMP).

Linux does not grow the window while it is small beside the socket's buffer. The sender
then waits for each of our reads. The 4.6.0 client scans its whole send buffer, up to
128 KiB, on every write, so that waiting costs it a third of its throughput.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from ipaddress import ip_address

LARGE_READ = 64 * 1024
"""Bytes of one read after which the peer may be waiting for the window."""
_WINDOW = 256 * 1024


class LoopbackWindow:
    """The receive window of one connection; no effect where the peer is remote."""

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        link = transport.get_extra_info("socket")
        self._socket = link if link is not None and _is_loopback(link) else None

    def clamp(self) -> None:
        """Set the window again; Linux shrinks it from time to time."""
        if self._socket is not None:
            with suppress(OSError):  # the peer has closed the connection
                self._socket.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, _WINDOW
                )


def _is_loopback(link: socket.socket) -> bool:
    if not hasattr(socket, "TCP_WINDOW_CLAMP"):
        return False
    try:
        return ip_address(link.getpeername()[0]).is_loopback
    except (OSError, ValueError):
        return False
