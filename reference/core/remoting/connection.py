"""
Connections: frames from the received bytes, and requests from the frames.

The first frame that cannot be decoded ends the connection, as in 4.6.0, whose decoder
closes the channel on any exception (Java: NettyDecoder). Requests before it are
handled.
"""

from __future__ import annotations

import re

from reference.core.remoting.request import Request
from spec.host import Host
from spec.layout import LayoutError
from spec.wire.remoting.command import command_header
from spec.wire.remoting.frame import (
    FRAME_SIZE_MAX,
    HEADER_WORD,
    SIZE_WORD,
    SerializeType,
)
from spec.wire.remoting.header_json import decode_json_header

_HEADER_AT = SIZE_WORD + HEADER_WORD
_JSON = int(SerializeType.JSON)
_NOT_STRICT_JSON = re.compile(
    # A string or comment without its end is kept to the end of the text. So no part of
    # a hostile header is scanned twice.
    r"""("(?:\\.?|[^"\\])*+"?|'(?:\\.?|[^'\\])*+'?|/\*(?!.*?\*/).*+)  # kept
    |/\*.*?\*/|//[^\n]*|,(?=\s*[}\]])          # a comment or a trailing comma
    """,
    re.DOTALL | re.VERBOSE,
)


class Connection:
    """A peer's connection, with the received bytes that are not yet a whole frame."""

    def __init__(self, number: int, remote: Host) -> None:
        self.number = number
        self.remote = remote
        self.decode_error: str | None = None
        """The reason why no more frames are read from this peer, or None."""
        self.active_at_ms: int | None = None
        """The time of the last traffic; None after a send until the next idle scan."""
        self._data, self._at = b"", 0
        """Received bytes, and the place of the next frame in them."""
        self._pending = bytearray()
        """Begin of a frame, while *_data* is empty."""
        self._needed = SIZE_WORD
        """Bytes of *_pending* from which on the frame may be whole."""
        self._received_at_ms = 0
        self._next: Request | None = None

    @property
    def unfinished_size(self) -> int:
        """Received bytes that are no request yet."""
        return len(self._pending) + len(self._data) - self._at

    def receive(self, data: bytes, now_ms: int) -> None:
        """Add *data*, whose frames `next_request` returns."""
        if self.decode_error is not None:
            return
        self.active_at_ms = self._received_at_ms = now_ms
        if self._pending:
            if len(self._pending) + len(data) < self._needed:
                self._pending += data
                return
            data = b"".join((self._pending, data))  # [WIRE-FRAME-006]
            self._pending.clear()
        elif self._at < len(self._data):
            data = self._data[self._at :] + data
        self._data, self._at = data, 0

    def next_request(self) -> Request | None:
        """Return the next whole request; None where the bytes end or are malformed."""
        if self._next is not None:
            request, self._next = self._next, None
            return request
        data, start = self._data, self._at
        left, size = len(data) - start, SIZE_WORD
        if not left:
            self._data, self._at = b"", 0
            return None
        if left >= SIZE_WORD:
            # [WIRE-FRAME-001]
            size += int.from_bytes(data[start : start + SIZE_WORD], "big")
            if size > FRAME_SIZE_MAX:  # [WIRE-FRAME-005]
                self._end(f"a frame of {size} bytes is over the limit")
                return None
            if size <= left:
                try:
                    request = decode_request(
                        data,
                        start,
                        start + size,
                        connection=self.number,
                        now_ms=self._received_at_ms,
                    )
                # [WIRE-FRAME-007] [WIRE-FRAME-009] [WIRE-FRAME-010]
                except (LayoutError, RecursionError) as error:
                    self._end(f"unreadable frame: {error}")
                    return None
                self._at = start + size
                return request  # [WIRE-CONN-022]
        self._needed = size
        self._pending += data[start:]  # [WIRE-CONN-021]
        self._data, self._at = b"", 0
        return None

    def put_back(self, request: Request) -> None:
        """Let `next_request` return *request* again."""
        self._next = request

    def _end(self, reason: str) -> None:
        self.decode_error = reason
        self._data, self._at = b"", 0


def decode_request(
    data: bytes, start: int, end: int, *, connection: int = 0, now_ms: int = 0
) -> Request:
    """Return the request in the frame from *start* to *end* of *data*."""
    header_at = start + _HEADER_AT
    # [WIRE-FRAME-002]
    body_at = header_at + int.from_bytes(data[header_at - 3 : header_at], "big")
    if not header_at <= body_at <= end:
        raise LayoutError(f"a header to byte {body_at - start} of {end - start}")
    serialize_type, header_bytes = data[start + 4], data[header_at:body_at]
    if serialize_type != _JSON:  # [WIRE-FRAME-003] [WIRE-FRAME-008]
        header = command_header(serialize_type, header_bytes)
    else:
        try:
            header = decode_json_header(header_bytes)
        except LayoutError:
            header = decode_json_header(strict_json(header_bytes))
    return Request(
        header.code,
        header.opaque,
        header.flag,
        header.fields,
        data[body_at:end],  # [WIRE-FRAME-004]
        header.language,
        header.version,
        header.remark,
        connection,
        now_ms,
    )


def strict_json(data: bytes) -> bytes:
    """Return *data* without the liberties that 4.6.0's JSON reader takes.

    It skips comments and trailing commas, and replaces bytes that are not UTF-8.
    """
    text = data.decode(errors="replace")  # [WIRE-CONN-012] [WIRE-CONN-026]
    return _NOT_STRICT_JSON.sub(lambda piece: piece[1] or "", text).encode()
