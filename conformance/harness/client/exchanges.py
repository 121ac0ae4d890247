"""
Commands in transcripts: requests with their responses, codes, and unreadable frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.harness.client.transcript import (
    Direction,
    Entry,
    Transcript,
    frames_of,
    is_whole,
)
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command


def exchanges(transcripts: Iterable[Transcript]) -> Iterator[tuple[Command, Command]]:
    """Yield each request in *transcripts* that got a response, with the response.

    The suite also sends responses that belong to no request. A peer that takes one for
    a request has not refused that.
    """
    for transcript in transcripts:
        sent: dict[int, Command] = {}
        for _, direction, command in commands_of(transcript):
            if direction is Direction.SENT:
                if command.is_response:
                    sent.pop(command.opaque, None)
                else:
                    sent[command.opaque] = command
            elif command.opaque in sent:
                yield sent[command.opaque], command


def sent_codes(transcripts: Iterable[Transcript]) -> set[int]:
    """Return the codes of all requests that were sent."""
    return {
        command.code
        for transcript in transcripts
        for _, direction, command in commands_of(transcript)
        if direction is Direction.SENT
    }


def last_request(transcripts: Iterable[Transcript]) -> int | None:
    """Return the code of the request that was sent last, None without any."""
    sent = [
        (transcript.opened_at_ms + at_ms, command.code)
        for transcript in transcripts
        for at_ms, direction, command in commands_of(transcript)
        if direction is Direction.SENT
    ]
    return max(sent)[1] if sent else None


def commands_of(transcript: Transcript) -> Iterator[tuple[int, Direction, Command]]:
    """Yield time, direction and command of each frame that can be read."""
    for entry, command in commands_or_none(transcript):
        if command is not None:
            yield entry.at_ms, entry.direction, command


def commands_or_none(transcript: Transcript) -> Iterator[tuple[Entry, Command | None]]:
    """Yield each frame's entry with its command, None where it cannot be read."""
    for entry, frame in _frames(transcript):
        try:
            yield entry, decode_command(frame)
        except LayoutError:
            yield entry, None


def _frames(transcript: Transcript) -> Iterator[tuple[Entry, bytes]]:
    """Yield the frames of each entry: one write may contain several, or a part."""
    part = b""
    for entry in transcript:
        if entry.direction is not Direction.SENT:
            yield entry, entry.data
            part = part if entry.data else b""  # a note: another connection
            continue
        whole = is_whole(entry.data)
        for frame in frames_of(entry.data if whole else part + entry.data):
            part = b"" if is_whole(frame) else frame
            if not part:
                yield entry, frame
