"""
TCP connections as packets, made from transcripts.

Real captures need privileges; transcripts contain the same bytes. A connection is
written segment by segment, with the sequence numbers of TCP. Checksums are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise

TCP = 6
SYN, PUSH, ACK = 0x02, 0x08, 0x10
SEGMENT_SIZE = 32_000
LOCAL = IPv4Address("127.0.0.1")
HOP_LIMIT = 64


@dataclass(slots=True)
class Connection:
    """One TCP connection, as far as it has been written."""

    client_port: int
    server_port: int
    client: IPv4Address | IPv6Address = LOCAL
    server: IPv4Address | IPv6Address = LOCAL
    packets: list[bytes] = field(default_factory=list)
    _next: dict[bool, int] = field(default_factory=dict)
    """The next sequence number of the client (True) and of the server."""

    def __post_init__(self) -> None:
        """Shake hands."""
        self._next = {True: 1000, False: 5000}
        self._add(b"", SYN, by_client=True)
        self._add(b"", SYN | ACK, by_client=False)
        self._add(b"", ACK, by_client=True)

    def client_sends(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Let the client send *data*, a segment ending at each of *cuts*."""
        self._send(data, cuts, by_client=True)

    def server_sends(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Let the server send *data*, a segment ending at each of *cuts*."""
        self._send(data, cuts, by_client=False)

    def _send(self, data: bytes, cuts: Sequence[int], *, by_client: bool) -> None:
        for low, high in pairwise([0, *cuts, len(data)]):
            for start in range(low, high, SEGMENT_SIZE):
                piece = data[start : min(start + SEGMENT_SIZE, high)]
                self._add(piece, PUSH | ACK, by_client=by_client)

    def _add(self, data: bytes, flags: int, *, by_client: bool) -> None:
        ports = (self.client_port, self.server_port)
        ends = (self.client, self.server)
        if not by_client:
            ports, ends = ports[::-1], ends[::-1]
        acknowledged = self._next[not by_client] if flags & ACK else 0
        words = struct.pack(
            ">HHIIBBHHH",
            *ports,
            self._next[by_client],
            acknowledged,
            5 << 4,
            flags,
            8192,
            0,
            0,
        )
        sent = self._next[by_client] + len(data) + (1 if flags & SYN else 0)
        self._next[by_client] = sent & 0xFFFFFFFF
        self.packets.append(_ip_header(len(words) + len(data), *ends) + words + data)


def _ip_header(
    size: int, source: IPv4Address | IPv6Address, target: IPv4Address | IPv6Address
) -> bytes:
    """Return the IP header for so many bytes, a checksum right where there is one."""
    ends = source.packed + target.packed
    if source.version == 6:
        return struct.pack(">IHBB", 6 << 28, size, TCP, HOP_LIMIT) + ends
    words = struct.pack(">BBHHHBBH", 0x45, 0, size + 20, 0, 0, HOP_LIMIT, TCP, 0) + ends
    total = sum(struct.unpack(">10H", words))
    total = (total & 0xFFFF) + (total >> 16)
    checksum: int = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return words[:10] + checksum.to_bytes(2, "big") + words[12:]
