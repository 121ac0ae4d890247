"""
Captures as of a capturing program: TCP segments in a pcap file.

A conversation is written segment by segment, split and joined as requested.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from conformance.harness.failure.tcp_packets import Connection as Conversation

MAGIC, VERSION = 0xA1B2C3D4, (2, 4)
WHOLE_PACKETS = 65535
RAW_IP = 101
"""The link type of packets that begin with their IP header."""
STEP_US = 1000
"""Between two packets."""

__all__ = ["Conversation", "write_capture"]


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
