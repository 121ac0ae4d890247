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
        self._largest_write: dict[int, int] = {}
        """Largest write, in bytes, of each connection that may have unsent ones."""
        self._unsent_size_max = 0
        """Upper limit of what unsent bytes hold; `_measure_unsent` makes it exact."""

    def add_write(self, number: int, size: int) -> None:
        """Add a large response, or one to a blocked connection.

        Slaves do not count: they get more only when they have read.
        """
        if number not in self._server.connections:
            return
        self._largest_write[number] = max(size, self._largest_write.get(number, 0))
        self._unsent_size_max += 2 * size

    def is_exceeded(self) -> bool:
        """Return whether all peers together hold more than they may."""
        if self._unsent_size_max + self._server.unfinished_size <= self.size_max:
            return False
        self._measure_unsent()
        return self._unsent_size_max + self._server.unfinished_size > self.size_max

    def largest_holder(self) -> int:
        """Return the connection whose peer holds most."""
        numbers = self._server.connections.keys() & self._transports.keys()
        return max(numbers, key=self.held_by)

    def held_by(self, number: int) -> int:
        """Return the bytes that are held for a connection."""
        return (
            self._unsent_by(number) + self._server.connections[number].unfinished_size
        )

    def _unsent_by(self, number: int) -> int:
        """Return the bytes that unsent responses of a connection hold.

        uvloop keeps a response until its last byte is sent. A partly sent one
        therefore holds up to the largest write more.
        """
        unsent = self._transports[number].get_write_buffer_size()
        return unsent + self._largest_write.get(number, 0) if unsent else 0

    def _measure_unsent(self) -> None:
        held = {
            number: self._unsent_by(number)
            for number in self._largest_write.keys() & self._transports.keys()
        }
        self._largest_write = {
            number: self._largest_write[number] for number, size in held.items() if size
        }
        self._unsent_size_max = sum(held.values())
