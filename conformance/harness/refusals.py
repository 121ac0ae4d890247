"""
A failure for want of a request that the target is known to refuse is no failure.

Such a target does not have the feature: the test is *unsupported*, counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.harness.conversations import CONVERSATIONS
from conformance.harness.transcript import Direction, Transcript
from spec.layout import LayoutError
from spec.wire.command import Command, decode_command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode


def refusal_in_test(refuses: frozenset[int]) -> str | None:
    """Return why the running test cannot be judged on a target that *refuses* codes."""
    codes = refused_in(CONVERSATIONS.said(), refuses) if refuses else []
    names = ", ".join(RequestCode(code).name for code in codes)
    return f"the target refuses the request {names}" if names else None


def refused_in(said: Iterable[Transcript], refuses: frozenset[int]) -> list[int]:
    """Return which of the codes *refuses* were asked for and refused."""
    found = []
    for transcript in said:
        asked: dict[int, int] = {}
        for entry in transcript:
            command = _command(entry.data)
            if command is None:
                continue
            if entry.direction is Direction.SENT:
                asked[command.opaque] = command.code
            elif command.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                found.append(asked.get(command.opaque, 0))
    return sorted(refuses.intersection(found))


def _command(frame: bytes) -> Command | None:
    try:
        return decode_command(frame)
    except LayoutError:
        return None
