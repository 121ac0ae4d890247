"""
The window of a connection from this machine stays open while we work.

Linux acknowledges what is read, and what comes while the window that it offers need not
shrink on account of it; a window that is small beside the buffer need not. A client of
4.6.0 may have 128 KiB on the way, and looks through all that waits in it for each
write: left to wait for our reads it sends two thirds of what it could.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from ipaddress import ip_address

MUCH = 64 * 1024
"""Who sends so many bytes at once may have more to send than it was let."""
_WINDOW = 256 * 1024


class LocalWindow:
    """The receive window of one connection."""

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        link = transport.get_extra_info("socket")
        self._link = link if link is not None and _is_local(link) else None

    def keep_open(self) -> None:
        """Tell the system, which forgets it now and then; after a large read."""
        if self._link is not None:
            with suppress(OSError):  # the peer is gone
                self._link.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, _WINDOW
                )


def _is_local(link: socket.socket) -> bool:
    """Return whether the peer is on this machine, and the system can be told."""
    if not hasattr(socket, "TCP_WINDOW_CLAMP"):
        return False
    try:
        return ip_address(link.getpeername()[0]).is_loopback
    except (OSError, ValueError):
        return False
