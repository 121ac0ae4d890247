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
from spec.wire.remoting.command import header_values
from spec.wire.remoting.frame import FRAME_SIZE_MAX, SerializeType
from spec.wire.remoting.header_json import decode_json_header

_SIZE_WORD = 4
_HEADER_AT = 8
_JSON = int(SerializeType.JSON)
_NOT_STRICT_JSON = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')  # a string, kept
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
        self._pending = bytearray()
        self._needed = _SIZE_WORD

    def receive(self, data: bytes, now_ms: int) -> list[Request]:
        """Return the requests that *data* completes, in order."""
        requests: list[Request] = []
        if self.decode_error is not None:
            return requests
        self.active_at_ms = now_ms
        if self._pending:
            self._pending += data
            if len(self._pending) < self._needed:
                return requests
            data = bytes(self._pending)  # [WIRE-FRAME-006]
            self._pending.clear()
        start, self._needed = 0, _SIZE_WORD
        while len(data) - start >= _SIZE_WORD:
            # [WIRE-FRAME-001]
            size = _SIZE_WORD + int.from_bytes(data[start : start + _SIZE_WORD], "big")
            if size > FRAME_SIZE_MAX:  # [WIRE-FRAME-005]
                self.decode_error = f"a frame of {size} bytes is over the limit"
                return requests
            if start + size > len(data):
                self._needed = size
                break
            try:
                request = decode_request(data, start, start + size)
            # [WIRE-FRAME-007] [WIRE-FRAME-009] [WIRE-FRAME-010]
            except (LayoutError, RecursionError) as error:
                self.decode_error = f"unreadable frame: {error}"
                return requests
            request.connection = self.number
            request.now_ms = now_ms
            requests.append(request)  # [WIRE-CONN-022]
            start += size
        self._pending += data[start:]  # [WIRE-CONN-021]
        return requests


def decode_request(data: bytes, start: int, end: int) -> Request:
    """Return the request in the frame from *start* to *end* of *data*."""
    header = start + _HEADER_AT
    # [WIRE-FRAME-002]
    body = header + int.from_bytes(data[header - 3 : header], "big")
    if not header <= body <= end:
        raise LayoutError(f"a header to byte {body - start} of {end - start}")
    serialize_type = data[start + 4]
    try:
        # [WIRE-FRAME-003] [WIRE-FRAME-008]
        if serialize_type == _JSON:
            values = decode_json_header(data[header:body])
        else:
            values = header_values(serialize_type, data[header:body])
    except LayoutError:
        if serialize_type != _JSON:
            raise
        values = decode_json_header(strict_json(data[header:body]))
    return Request(
        values["code"],
        values["opaque"],
        values["flag"],
        values["fields"],
        data[body:end],  # [WIRE-FRAME-004]
        values["language"],
        values["version"],
        values["remark"],
    )


def strict_json(data: bytes) -> bytes:
    """Return *data* without the liberties that 4.6.0's JSON reader takes.

    It skips comments and trailing commas, and replaces bytes that are not UTF-8.
    """
    text = data.decode(errors="replace")  # [WIRE-CONN-012] [WIRE-CONN-026]
    return _NOT_STRICT_JSON.sub(lambda piece: piece[1] or "", text).encode()
