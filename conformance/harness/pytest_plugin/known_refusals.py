"""
Failures caused by a request code that the target is known to refuse.

Such a target does not have the feature: the test is *unsupported*, counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.transcript import Direction, Transcript
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def refusal_in_test(refuses: frozenset[int]) -> str | None:
    """Return the reason why the running test has no verdict on this target, or None."""
    codes = refused_in(CONVERSATIONS.transcripts(), refuses) if refuses else []
    names = ", ".join(RequestCode(code).name for code in codes)
    return f"the target refuses the request {names}" if names else None


def refused_in(transcripts: Iterable[Transcript], refuses: frozenset[int]) -> list[int]:
    """Return the codes among *refuses* that were sent and refused."""
    found = []
    for transcript in transcripts:
        sent: dict[int, int] = {}
        for entry in transcript:
            command = _command(entry.data)
            if command is None:
                continue
            if entry.direction is Direction.SENT:
                sent[command.opaque] = command.code
            elif command.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                found.append(sent.get(command.opaque, 0))
    return sorted(refuses.intersection(found))


def _command(frame: bytes) -> Command | None:
    try:
        return decode_command(frame)
    except LayoutError:
        return None
