"""
A connection turns the bytes of one peer into requests, however they are cut.

It believes a length only after checking it. The first frame that cannot be read
breaks the connection: what came before it counts, nothing after it does, and the
service closes. So does 4.6.0, whose decoder closes the channel on any exception.
"""

from __future__ import annotations

from dataclasses import replace
from json import JSONDecoder
from json.scanner import make_scanner

from reference.core.lenient_json import plain_json
from reference.core.request import Request
from spec.host import Host
from spec.layout import LayoutError
from spec.wire.command import Command, command_of, decode_command
from spec.wire.frame import FRAME_SIZE_MAX, decode_frame

_LENGTH_SIZE = 4
_HEADER_START = 8
_JSON = 0
_INT_END = 2**31
_scan_json = make_scanner(JSONDecoder())  # type: ignore[arg-type] # stub is wrong


class Connection:
    """The bytes of one peer that are not yet a whole frame."""

    def __init__(self, number: int, remote: Host) -> None:
        self.number = number
        self.remote = remote
        self.broken: str | None = None
        """Why no more frames are read from this peer; None while they are."""
        self.active_at_ms: int | None = None
        """When the peer last sent or was sent anything; None until that is known."""
        self._pending = bytearray()
        self._wanted = _LENGTH_SIZE

    def receive(self, data: bytes, now_ms: int) -> list[Request]:
        """Return the requests that *data* completes, in order."""
        if self.broken is not None:
            return []
        self.active_at_ms = now_ms
        if self._pending:
            if len(self._pending) + len(data) < self._wanted:
                self._pending += data
                return []
            data = b"".join((self._pending, data))  # [WIRE-FRAME-006]
            self._pending.clear()
        elif len(data) < self._wanted:
            self._pending += data
            return []
        return self._split(data, now_ms)

    def _split(self, data: bytes, now_ms: int) -> list[Request]:
        """Return the requests in *data* and keep the start of the next one."""
        requests: list[Request] = []
        start = 0
        end = len(data)
        self._wanted = _LENGTH_SIZE
        while end - start >= _LENGTH_SIZE:
            # [WIRE-FRAME-001]
            length = int.from_bytes(data[start : start + _LENGTH_SIZE], "big")
            stop = start + _LENGTH_SIZE + length
            if stop - start > FRAME_SIZE_MAX:  # [WIRE-FRAME-005]
                self.broken = f"a frame of {length} bytes is over the limit"
                return requests
            if stop > end:
                self._wanted = stop - start
                break
            try:
                request = decode_request(data, start, stop)
            # [WIRE-FRAME-007] [WIRE-FRAME-009] [WIRE-FRAME-010]
            except (LayoutError, ValueError, TypeError, RecursionError) as error:
                self.broken = f"unreadable frame: {error}"
                return requests
            request.connection = self.number
            request.now_ms = now_ms
            requests.append(request)  # [WIRE-CONN-022]
            start = stop
        self._pending += data[start:]  # [WIRE-CONN-021]
        return requests


def decode_request(data: bytes, start: int, end: int) -> Request:
    """Return the request that the frame from *start* to *end* of *data* holds.

    A JSON header that every JSON reader understands is read here; anything else is
    left to the specification's decoder.
    """
    header = start + _HEADER_START
    if header <= end and data[start + 4] == _JSON:
        # [WIRE-FRAME-002]
        body = header + int.from_bytes(data[header - 3 : header], "big")
        request = _plain_json(data, header, body, end) if body <= end else None
        if request is not None:
            return request
    # [WIRE-FRAME-003] [WIRE-FRAME-008]
    command = _lenient_command(data[start:end])
    return Request(
        command.code,
        command.opaque,
        command.flag,
        command.fields,
        command.body,
        command.language,
        command.version,
        command.remark,
    )


def _lenient_command(frame: bytes) -> Command:
    """Return the command of a frame whose header is odd, if it can be read at all."""
    try:
        return decode_command(frame)
    except LayoutError:
        if len(frame) < _HEADER_START or frame[4] != _JSON:
            raise
    parts = decode_frame(frame)  # [WIRE-CONN-012]
    return command_of(replace(parts, header=plain_json(parts.header)))


def _plain_json(data: bytes, begin: int, body: int, end: int) -> Request | None:
    """Return the request whose header, from *begin* to *body*, is a plain JSON object.

    The body goes on to *end*.
    """
    try:
        text = data[begin:body].decode()
        header, read = _scan_json(text, 0)
    except (ValueError, StopIteration):
        return None
    if read != len(text) or type(header) is not dict:  # [WIRE-CONN-013]
        return None
    get = header.get
    fields, code, opaque = get("extFields"), get("code", 0), get("opaque", 0)
    flag, version = get("flag", 0), get("version", 0)
    # [WIRE-CONN-010] [WIRE-CONN-011]
    is_plain = _are_int32(code, opaque, flag, version)
    if not is_plain or not (fields is None or type(fields) is dict):
        return None
    return Request(
        code,
        opaque,
        flag,
        fields or {},
        data[body:end],  # [WIRE-FRAME-004]
        get("language", "JAVA"),
        version,
        get("remark"),
    )


def _are_int32(a: object, b: object, c: object, d: object) -> bool:
    """Return whether all four are numbers that a Java int can be."""
    if not (type(a) is int and type(b) is int and type(c) is int and type(d) is int):
        return False
    if 0 <= a | b | c | d < _INT_END:
        return True  # as nearly always
    return min(a, b, c, d) >= -_INT_END and max(a, b, c, d) < _INT_END
