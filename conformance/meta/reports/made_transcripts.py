"""Transcripts of frames that no peer has sent."""

from __future__ import annotations

from conformance.harness.client.transcript import Direction, Entry, Transcript
from spec.wire.remoting.command import Command, encode_command


def transcript_of(*frames: tuple[Direction, Command]) -> Transcript:
    """Return a transcript with *frames*, all at one time."""
    transcript = Transcript("a peer")
    for direction, command in frames:
        data = encode_command(command)
        transcript.add(Entry(direction=direction, at_ms=0, data=data))
    return transcript
