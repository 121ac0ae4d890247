"""
A transcript is what crossed one connection: every frame, both ways, in order.

A peer keeps one so that a failure can show the conversation that led to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import dropwhile, takewhile

from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.frame import SIZE_WORD, SerializeType, size_of_frame
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SHOWN_BODY_SIZE = 48
"""Bytes of a body that a rendered command shows."""
SHOWN_VALUE_SIZE = 80
"""Characters of a field that a rendered command shows."""
SHOWN_FIRST, SHOWN_LAST = 6, 12
"""Lines of a rendered transcript at its begin and at its end."""
POLLED_MOST = 4
"""Frames of one poll that is folded: two requests and their responses."""
POLLS_LEAST = 4
"""Equal polls from which on they are folded."""
BINARY_OPAQUE = slice(13, 17)
"""Bytes of the opaque in a frame with a header in ROCKETMQ notation."""
_OPAQUE = re.compile(rb'"opaque":\s*-?\d+')


class Direction(StrEnum):
    """Direction of a frame, seen from the suite."""

    SENT = "->"
    RECEIVED = "<-"
    NOTE = "--"
    """No bytes: something that happened, such as a close."""

    @property
    def opposite(self) -> Direction:
        """The direction, seen from the other end."""
        ends = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}
        return ends.get(self, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One frame, or one event, of a conversation."""

    direction: Direction
    at_ms: int
    """Since the connection was opened."""
    data: bytes = b""
    """The frame, its length word included; what was sent may be no frame at all."""
    note: str = ""


class Transcript:
    """The entries of one connection, oldest first."""

    def __init__(
        self,
        peer: str,
        *,
        local: str = "",
        opened_at_ms: int = 0,
        is_server: bool = False,
    ) -> None:
        self.peer = peer
        self.is_server = is_server
        """Whether the suite plays the server, for a client under test."""
        self.local = local
        """Our own end of the connection."""
        self.opened_at_ms = opened_at_ms
        """Since 1970; 0 where the conversation is made up."""
        self._entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Append *entry*."""
        self._entries.append(entry)

    def since(self, count: int) -> Transcript:
        """Return the conversation without its first *count* entries."""
        made = Transcript(
            self.peer,
            local=self.local,
            opened_at_ms=self.opened_at_ms,
            is_server=self.is_server,
        )
        made._entries = self._entries[count:]
        return made

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last_at_ms(self) -> int:
        """Time of the last entry, in milliseconds since 1970."""
        last = self._entries[-1].at_ms if self._entries else 0
        return self.opened_at_ms + last

    def last(self, direction: Direction) -> bytes:
        """Return the last bytes in *direction*, empty without any."""
        for entry in reversed(self._entries):
            if entry.direction is direction:
                return entry.data
        return b""

    def ends_unanswered(self) -> bool:
        """Return whether no frame was received after the last sent bytes."""
        frames = [one.direction for one in self._entries if one.data]
        return frames[-1:] == [Direction.SENT]

    def last_sent(self) -> bytes:
        """Return the frame that was last sent; its pieces, where it went in pieces."""
        last = self.last(Direction.SENT)
        if is_whole(last):
            return last
        backwards = dropwhile(
            lambda entry: entry.direction is not Direction.SENT,
            reversed(self._entries),
        )
        pieces = takewhile(
            lambda entry: entry.direction is not Direction.RECEIVED, backwards
        )
        return b"".join(reversed([piece.data for piece in pieces]))

    def render(self) -> str:
        """Return the conversation as text, one frame a line.

        The arrow ``->`` is always that of the client.
        """
        items = list(_folded(self._of_client()))
        last = items[SHOWN_FIRST:][-SHOWN_LAST:]
        lines = [f"with {self.peer}{self._opened()}"]
        lines += map(_render, items[:SHOWN_FIRST])
        if left := items[SHOWN_FIRST : len(items) - len(last)]:
            count = sum(item if isinstance(item, int) else 1 for item in left)
            lines.append(f"   ... {count:,} more frames")
        return "\n".join([*lines, *map(_render, last)])

    def _of_client(self) -> list[Entry]:
        """Return the entries with the directions that the client sees."""
        if not self.is_server:
            return self._entries
        return [
            replace(entry, direction=entry.direction.opposite)
            for entry in self._entries
        ]

    def _opened(self) -> str:
        if not self.opened_at_ms:
            return ""
        opened = datetime.fromtimestamp(self.opened_at_ms / 1000, UTC)
        return f", opened {opened.isoformat(timespec='milliseconds')}"


def is_whole(data: bytes) -> bool:
    """Return whether *data* has the length that its size word states."""
    return len(data) >= SIZE_WORD and int.from_bytes(data[:SIZE_WORD]) == len(
        data[SIZE_WORD:]
    )


def frames_of(data: bytes) -> Iterator[bytes]:
    """Yield the frames in *data*; the rest that is not a frame comes last, whole."""
    position = 0
    while position < len(data):
        rest = data[position:]
        try:
            frame = rest[: size_of_frame(rest)]
        except LayoutError:
            frame = rest
        yield frame
        position += len(frame)


def _folded(entries: Sequence[Entry]) -> Iterator[Entry | int]:
    """Yield *entries*, the first and last of equal polls and the count of the others.

    Polls are equal but for their opaques and times.
    """
    keys = [(entry.direction, _key(entry.data), entry.note) for entry in entries]
    here = 0
    while here < len(entries):
        is_request = entries[here].direction is Direction.SENT
        size, count = _poll_at(here, keys) if is_request else (0, 0)
        if not size:
            yield entries[here]
            here += 1
            continue
        end = here + size * count
        yield from entries[here : here + size]
        yield size * (count - 2)
        yield from entries[end - size : end]
        here = end


def _poll_at(begin: int, keys: Sequence[object]) -> tuple[int, int]:
    """Return the frames of the poll at *begin* and its count; zeros without one."""
    for size in range(1, POLLED_MOST + 1):
        end = begin + size
        while end < len(keys) and keys[end] == keys[end - size]:
            end += 1
        count = (end - begin) // size
        if count >= POLLS_LEAST:
            return size, count
    return 0, 0


def _key(frame: bytes) -> bytes:
    """Return *frame* without its sizes and its opaque."""
    if frame[SIZE_WORD : SIZE_WORD + 1] == bytes([SerializeType.ROCKETMQ]):
        return frame[8 : BINARY_OPAQUE.start] + frame[BINARY_OPAQUE.stop :]
    return _OPAQUE.sub(b"", frame[8:])


def _render(item: Entry | int) -> str:
    """Return one line: an entry, or the number of folded frames."""
    if isinstance(item, int):
        return f"   ... {item:,} more frames of equal polls"
    return _render_entry(item)


def _render_entry(entry: Entry) -> str:
    text = entry.note if entry.direction is Direction.NOTE else describe(entry.data)
    return f"{entry.at_ms:>6} ms {entry.direction} {text}"


def describe(data: bytes) -> str:
    """Return the frame *data* in words, or how it fails to be one."""
    try:
        return describe_command(decode_command(data))
    except LayoutError as error:
        start = data[:SHOWN_BODY_SIZE].hex(" ")
        return f"{len(data)} bytes, no frame ({error}): {start}"


def describe_command(command: Command) -> str:
    """Return *command* in words: code, opaque, fields, remark and body."""
    parts = [_name_of(command), f"opaque={command.opaque}"]
    parts += [f"{key}={_short(value)}" for key, value in command.fields.items()]
    if command.remark:
        parts.append(f"remark={command.remark.splitlines()[0][:100]!r}")
    if command.body:
        more = "..." if len(command.body) > SHOWN_BODY_SIZE else ""
        parts.append(f"body[{len(command.body)}]={_shown(command.body)}{more}")
    return " ".join(parts)


def _name_of(command: Command) -> str:
    codes = ResponseCode if command.is_response else RequestCode
    kind = "response" if command.is_response else "request"
    try:
        name = codes(command.code).name
    except ValueError:
        name = "(unknown code)"
    oneway = " oneway" if command.is_oneway and not command.is_response else ""
    return f"{kind} {command.code} {name}{oneway}"


def _short(value: str) -> str:
    """Return *value* in quotes, only the start of a long one."""
    if len(value) <= SHOWN_VALUE_SIZE:
        return repr(value)
    return f"{value[:SHOWN_VALUE_SIZE]!r}... ({len(value)} characters)"


def _shown(body: bytes) -> str:
    """Return the start of *body* as text where it is, escaped where it is not."""
    return repr(body[:SHOWN_BODY_SIZE])[1:]
