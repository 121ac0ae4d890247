"""
Captures of what a test said and heard: ``.pcapng``, as Wireshark opens them.

The bytes and times are those of the transcripts; TCP's part is made up, so that no
privileges are needed. The file's comment says which clause was not met, and with the
dissector of ``rmqc spec export --format lua`` every frame is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address

from conformance.harness.address import Address
from conformance.harness.tcp_packets import LOCAL, Connection
from conformance.harness.transcript import Direction, Transcript

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
"""Types of blocks (draft-ietf-opsawg-pcapng, sections 4.1, 4.2 and 4.3)."""
BYTE_ORDER = 0x1A2B3C4D
WHOLE_FILE = -1
RAW_IP = 101
"""The link type of packets that begin with their IP header."""
END, COMMENT, RESOLUTION = 0, 1, 9
"""Options of blocks."""
MILLISECONDS = b"\x03"
"""Times count thousandths of a second: ten to the minus three."""
FIRST_PORT = 50_000
"""Of our own ends whose ports nobody knows."""
MOST_BYTES = 32 << 20
"""Of what was said; the rest of a larger conversation is left out."""


def capture_of(said: Iterable[Transcript], comment: str = "") -> bytes:
    """Return a capture of the conversations *said*."""
    parts = [
        _block(
            SECTION,
            struct.pack(">IHHq", BYTE_ORDER, 1, 0, WHOLE_FILE),
            (COMMENT, comment.encode()),
        ),
        _block(
            INTERFACE, struct.pack(">HHI", RAW_IP, 0, 0), (RESOLUTION, MILLISECONDS)
        ),
    ]
    packets = [
        packet
        for number, transcript in enumerate(said)
        for packet in _packets(transcript, FIRST_PORT + number)
    ]
    total = 0
    for at_ms, data, note in sorted(packets, key=lambda one: one[0]):
        total += len(data)
        if total > MOST_BYTES:
            break
        head = struct.pack(">IQII", 0, at_ms, len(data), len(data))
        parts.append(_block(PACKET, head + _padded(data), (COMMENT, note.encode())))
    return b"".join(parts)


def _packets(said: Transcript, port: int) -> Iterator[tuple[int, bytes, str]]:
    """Yield the packets of one conversation: when, the bytes, a remark."""
    client, server = _end(said.local, port), _end(said.peer, 10_911)
    if client[0].version != server[0].version:
        client = (server[0], client[1])
    made = Connection(client[1], server[1], client[0], server[0])
    shown = 0
    note = ""
    for entry in said:
        if entry.direction is Direction.SENT:
            made.client_says(entry.data)
        elif entry.direction is Direction.RECEIVED:
            made.server_says(entry.data)
        note = entry.note if entry.direction is Direction.NOTE else note
        at_ms = said.opened_at_ms + entry.at_ms
        for packet in made.packets[shown:]:
            yield at_ms, packet, note
            note = ""
        shown = len(made.packets)


def _end(text: str, port: int) -> tuple[IPv4Address | IPv6Address, int]:
    """Return the end of a connection that *text* names, as far as it is a number."""
    try:
        address = Address.parse(text)
        return ip_address(address.host), address.port
    except ValueError:
        return LOCAL, port


def _block(kind: int, body: bytes, *options: tuple[int, bytes]) -> bytes:
    named = [(code, value) for code, value in options if value]
    tail = b"".join(
        struct.pack(">HH", code, len(value)) + _padded(value) for code, value in named
    )
    tail += struct.pack(">HH", END, 0) if named else b""
    size = struct.pack(">I", 12 + len(body) + len(tail))
    return struct.pack(">I", kind) + size + body + tail + size


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
