"""
Captures of a test's connections: ``.pcapng`` files for Wireshark.

Bytes and times are those of the transcripts. TCP headers are synthetic, so that no
privileges are needed. The file's comment names the unmet clause. The dissector of
``rmqc spec export --format lua`` decodes every frame.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address

from conformance.harness.client.address import Address
from conformance.harness.client.transcript import Direction, Transcript
from conformance.harness.failure.tcp_packets import LOCAL, Connection

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
"""First local port of connections without a recorded one."""
MOST_BYTES = 32 << 20
"""Limit of a capture; the rest of a larger conversation is left out."""


def capture_of(transcripts: Iterable[Transcript], comment: str = "") -> bytes:
    """Return a capture of the conversations *transcripts*."""
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
        for number, transcript in enumerate(transcripts)
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


def _packets(transcripts: Transcript, port: int) -> Iterator[tuple[int, bytes, str]]:
    """Yield the packets of one conversation: when, the bytes, a remark."""
    client, server = _end(transcripts.local, port), _end(transcripts.peer, 10_911)
    if client[0].version != server[0].version:
        client = (server[0], client[1])
    made = Connection(client[1], server[1], client[0], server[0])
    shown = 0
    note = ""
    for entry in transcripts:
        is_sent = entry.direction is Direction.SENT
        if entry.direction is Direction.NOTE:
            pass
        elif is_sent is transcripts.is_server:
            made.server_sends(entry.data)
        else:
            made.client_sends(entry.data)
        note = entry.note if entry.direction is Direction.NOTE else note
        at_ms = transcripts.opened_at_ms + entry.at_ms
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
