"""
Captures of this project as text: each connection with its frames, one a line.

Only files of ``capture.py`` are read. Wireshark reads all others, with the dissector of
``rmqc spec export --format lua``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from conformance.harness.client.transcript import describe
from conformance.harness.failure.capture import (
    BYTE_ORDER,
    COMMENT,
    PACKET,
    SECTION,
)
from conformance.harness.failure.tcp_packets import TCP
from spec.wire.remoting.frame import SIZE_WORD

MAGIC = struct.pack(">I", SECTION)
"""First bytes of every pcapng file."""
_OPTIONS_AT = 16
"""Begin of the options of a section."""
_PACKET_AT = 20
_ADDRESS_AT = {4: (12, 4), 6: (8, 16)}
"""Begin and size of the first address in an IP header, by version."""
_IPV6_SIZE = 40


class CaptureError(Exception):
    """The file is not a capture of this project."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """Bytes of one TCP packet."""

    at_ms: int
    source: str
    target: str
    data: bytes


@dataclass(slots=True)
class _Talk:
    """One connection; the source of its first packet is the client."""

    client: str
    server: str
    begin_ms: int
    waiting: dict[str, bytes] = field(default_factory=dict)
    """The begin of a frame, by source."""
    lines: list[str] = field(default_factory=list)

    def add(self, segment: _Segment) -> None:
        """Add the frames that *segment* completes."""
        data = self.waiting.get(segment.source, b"") + segment.data
        while len(data) >= SIZE_WORD:
            end = SIZE_WORD + max(int.from_bytes(data[:SIZE_WORD], signed=True), 0)
            if end > len(data):
                break
            self._add_line(segment, data[:end])
            data = data[end:]
        self.waiting[segment.source] = data

    def _add_line(self, segment: _Segment, frame: bytes) -> None:
        arrow = "->" if segment.source == self.client else "<-"
        at_ms = segment.at_ms - self.begin_ms
        self.lines.append(f"{at_ms:>8} ms {arrow} {describe(frame)}")

    def text(self) -> str:
        """Return the connection with its frames."""
        rest = [
            f"            {len(data)} bytes of {source} are not a whole frame"
            for source, data in self.waiting.items()
            if data
        ]
        return "\n".join([f"{self.client} -> {self.server}", *self.lines, *rest])


def capture_text(data: bytes) -> str:
    """Return the capture *data* as text; raises CaptureError."""
    try:
        blocks = list(_blocks(data))
        comment = _comment(blocks[0][1])
        segments = [_segment(body) for kind, body in blocks if kind == PACKET]
    except (struct.error, IndexError, ValueError, KeyError) as error:
        raise CaptureError(f"not a capture of rmqc: {error}") from None
    talks: dict[frozenset[str], _Talk] = {}
    for one in segments:
        talk = talks.setdefault(
            frozenset({one.source, one.target}),
            _Talk(one.source, one.target, one.at_ms),
        )
        talk.add(one)
    return "\n\n".join(filter(None, [comment, *(one.text() for one in talks.values())]))


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each block."""
    if data[8:12] != struct.pack(">I", BYTE_ORDER):
        raise ValueError("its byte order is another one; Wireshark reads it")
    while data:
        kind, size = struct.unpack(">II", data[:8])
        if not 12 <= size <= len(data):
            raise ValueError(f"a block of {size} bytes, {len(data)} are left")
        yield kind, data[8 : size - 4]
        data = data[size:]


def _comment(section: bytes) -> str:
    """Return the comment of the file: its test and the unmet clause."""
    options = section[_OPTIONS_AT:]
    if not options:
        return ""
    code, size = struct.unpack(">HH", options[:4])
    return options[4 : 4 + size].decode("utf-8", "replace") if code == COMMENT else ""


def _segment(body: bytes) -> _Segment:
    """Return the bytes of one packet."""
    at_ms, size = struct.unpack(">QI", body[4:16])
    packet = body[_PACKET_AT : _PACKET_AT + size]
    version = packet[0] >> 4
    is_tcp = packet[9 if version == 4 else 6] == TCP
    if not is_tcp:
        raise ValueError("a packet is not one of TCP")
    begin, width = _ADDRESS_AT[version]
    hosts = [ip_address(packet[at : at + width]) for at in (begin, begin + width)]
    segment = packet[(packet[0] & 15) * 4 if version == 4 else _IPV6_SIZE :]
    ports = struct.unpack(">HH", segment[:4])
    ends = [
        f"[{host}]:{port}" if version == 6 else f"{host}:{port}"
        for host, port in zip(hosts, ports, strict=True)
    ]
    return _Segment(at_ms, ends[0], ends[1], segment[(segment[12] >> 4) * 4 :])
