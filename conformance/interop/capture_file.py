"""
Captures, written as a capturing program would: TCP segments in a pcap file.

Where nothing may be captured for want of privileges, what was said is known all the
same. A conversation is written here segment by segment, cut and joined as its author
wants, with the sequence numbers that TCP would have given.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

MAGIC, VERSION = 0xA1B2C3D4, (2, 4)
WHOLE_PACKETS = 65535
RAW_IP = 101
"""The link type of packets that begin with their IP header."""
TCP = 6
SYN, PUSH, ACK = 0x02, 0x08, 0x10
STEP_US = 1000
"""Between two packets."""

LOCAL = IPv4Address("127.0.0.1")


@dataclass(slots=True)
class Conversation:
    """One TCP connection, as far as it has been written."""

    client_port: int
    server_port: int
    packets: list[bytes] = field(default_factory=list)
    _next: dict[int, int] = field(default_factory=dict)
    """The next sequence number of each port."""

    def __post_init__(self) -> None:
        """Shake hands."""
        self._next = {self.client_port: 1000, self.server_port: 5000}
        self._add(self.client_port, b"", SYN)
        self._add(self.server_port, b"", SYN | ACK)
        self._add(self.client_port, b"", ACK)

    def client_says(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Let the client send *data*, a segment ending at each of *cuts*."""
        self._say(self.client_port, data, cuts)

    def server_says(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Let the server send *data*, a segment ending at each of *cuts*."""
        self._say(self.server_port, data, cuts)

    def _say(self, port: int, data: bytes, cuts: Sequence[int]) -> None:
        edges = [0, *cuts, len(data)]
        for low, high in pairwise(edges):
            for start in range(low, high, 32_000):
                piece = data[start : min(start + 32_000, high)]
                self._add(port, piece, PUSH | ACK)

    def _add(self, port: int, data: bytes, flags: int) -> None:
        other = self.server_port if port == self.client_port else self.client_port
        heard = self._next[other] if flags & ACK else 0
        words = struct.pack(
            ">HHIIBBHHH",
            port,
            other,
            self._next[port],
            heard,
            5 << 4,
            flags,
            8192,
            0,
            0,
        )
        self._next[port] += len(data) + (1 if flags & SYN else 0)
        self.packets.append(_ip_header(len(words) + len(data)) + words + data)


def _ip_header(size: int) -> bytes:
    """Return an IPv4 header for so many bytes, its checksum right."""
    words = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        0,
        size + 20,
        0,
        0,
        64,
        TCP,
        0,
        LOCAL.packed,
        LOCAL.packed,
    )
    total = sum(struct.unpack(">10H", words))
    total = (total & 0xFFFF) + (total >> 16)
    checksum: int = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return words[:10] + checksum.to_bytes(2, "big") + words[12:]


def write_capture(path: Path, packets: Sequence[bytes]) -> None:
    """Write *packets* into a pcap file, a millisecond apart."""
    head = struct.pack(">IHHiIII", MAGIC, *VERSION, 0, 0, WHOLE_PACKETS, RAW_IP)
    parts = [head]
    for number, packet in enumerate(packets):
        seconds, micros = divmod(number * STEP_US, 1_000_000)
        size = len(packet)
        parts += (
            struct.pack(">IIII", 1_573_000_000 + seconds, micros, size, size),
            packet,
        )
    path.write_bytes(b"".join(parts))
