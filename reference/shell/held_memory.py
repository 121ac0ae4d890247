"""
The memory that peers hold: responses that they do not read, requests that they do not
finish.

A peer with many unsent bytes is blocked: nothing is read from it until it reads. Above
the bound of the process, the peer that holds most is to be closed. Netty's buffers have
no such bound; a broker of 4.6.0 grows until its machine refuses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from reference.core.remoting.server import RemotingServer

MEMORY_MAX = 256 * 1024 * 1024
"""Default limit of the bytes that peers may hold in a process."""


class HeldMemory:
    """The bytes held for the connections of one server."""

    def __init__(
        self,
        server: RemotingServer,
        transports: Mapping[int, asyncio.Transport],
        size_max: int,
    ) -> None:
        self.size_max = size_max
        self.blocked: set[int] = set()
        """Connections whose peers do not read."""
        self._server = server
        self._transports = transports
        self._unsent_size = 0
        """Unsent bytes of the blocked connections."""

    def block(self, number: int) -> None:
        """Add a connection whose peer does not read."""
        self.blocked.add(number)
        self._measure_unsent()

    def unblock(self, number: int) -> None:
        """Remove a connection whose peer reads again, or that is closed."""
        self.blocked.discard(number)
        self._measure_unsent()

    def add_unsent(self, size: int) -> None:
        """Add the bytes of a response to a blocked connection."""
        self._unsent_size += size

    def is_exceeded(self) -> bool:
        """Return whether all peers together hold more than they may."""
        if self._unsent_size + self._server.unfinished_size <= self.size_max:
            return False
        self._measure_unsent()  # a blocked peer may have read a part
        return self._unsent_size + self._server.unfinished_size > self.size_max

    def largest_holder(self) -> int:
        """Return the connection whose peer holds most."""
        numbers = self._server.connections.keys() & self._transports.keys()
        return max(numbers, key=self.held_by)

    def held_by(self, number: int) -> int:
        """Return the bytes that are held for a connection."""
        unsent = self._transports[number].get_write_buffer_size()
        return unsent + self._server.connections[number].unfinished_size

    def _measure_unsent(self) -> None:
        sizes = (self._transports[n].get_write_buffer_size() for n in self.blocked)
        self._unsent_size = sum(sizes)
