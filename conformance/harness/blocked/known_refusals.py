"""
Failures caused by a request code that the target does not have, or by its guard.

Such a target does not have the feature, or admits only signed requests: the test is
*unsupported*, counted apart.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qs, parse_qsl

from conformance.harness.client.access import CREDENTIALS, access_of
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.transcript import (
    Direction,
    Entry,
    Transcript,
    frames_of,
    is_whole,
)
from conformance.harness.targets.probing.probe import refused_codes
from conformance.harness.targets.probing.probe_requests import bare
from conformance.harness.targets.shared_target import refuses_of
from spec.layout import LayoutError
from spec.security.signature import ACCESS_KEY
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

NO_PERMISSION = ResponseCode.NO_PERMISSION
HELD = (RequestCode.PULL_MESSAGE, RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION)
"""Requests that a broker may hold."""
KNOWN_CODES = frozenset(map(int, RequestCode))


def refusal_in_test(description: Mapping[str, str]) -> str | None:
    """Return the reason why the running test has no verdict on this target, or None.

    A foreign target may refuse any request that Apache has, unless it is dishonest.
    The refusals of any other target count only if they were found before the run.
    """
    refuses = refuses_of(description)
    if description.get("is_foreign") and not description.get("complaints"):
        refuses = KNOWN_CODES
    transcripts = CONVERSATIONS.transcripts() if refuses else []
    codes = refused_in(transcripts, refuses)
    if not codes and refuses == KNOWN_CODES:
        codes = refused_oneway(transcripts, description.get("access", ""))
    names = ", ".join(RequestCode(code).name for code in codes)
    return f"the target refuses the request {names}" if names else None


def refusal_of_unsigned(description: Mapping[str, str]) -> str | None:
    """Return the reason why a test without signatures has no verdict, or None.

    The clients of the suite sign for a target with credentials. Tests of bytes do not.
    """
    if CREDENTIALS not in parse_qs(description.get("access", "")):
        return None
    for transcript in CONVERSATIONS.transcripts():
        signed: set[int] = set()
        for _, direction, command in _commands(transcript):
            if direction is Direction.SENT and ACCESS_KEY in command.fields:
                signed.add(command.opaque)
            is_refused = command.is_response and command.code == NO_PERMISSION
            # A request of bytes that are no command has any opaque.
            if is_refused and command.opaque not in signed:
                return "the target refuses its requests, which are not signed"
    return None


def refused_in(transcripts: Iterable[Transcript], refuses: frozenset[int]) -> list[int]:
    """Return the codes among *refuses* that were sent and refused."""
    found = {
        sent.code
        for sent, answer in exchanges(transcripts)
        if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    }
    return sorted(refuses.intersection(found))


def refused_oneway(transcripts: Iterable[Transcript], access: str) -> list[int]:
    """Return the codes that were sent oneway and that their receiver refuses.

    A oneway request has no response, so each code is sent again without fields.
    """
    return sorted(
        {
            command.code
            for transcript in transcripts
            for _, direction, command in _commands(transcript)
            if direction is Direction.SENT
            and command.is_oneway
            and command.code in KNOWN_CODES
            and _is_refused(transcript.peer, command.code, access)
        }
    )


@functools.cache
def _is_refused(peer: str, code: int, access: str) -> bool:
    """Return whether *peer* refuses *code* from a client with the settings *access*."""
    settings = access_of(dict(parse_qsl(access)))
    with CONVERSATIONS.apart():
        return bool(refused_codes(Address.parse(peer), bare([code]), settings))


def exchanges(transcripts: Iterable[Transcript]) -> Iterator[tuple[Command, Command]]:
    """Yield each request in *transcripts* that got a response, with the response.

    The suite also sends responses that belong to no request. A peer that takes one for
    a request has not refused that.
    """
    for transcript in transcripts:
        sent: dict[int, Command] = {}
        for _, direction, command in _commands(transcript):
            if direction is Direction.SENT:
                if command.is_response:
                    sent.pop(command.opaque, None)
                else:
                    sent[command.opaque] = command
            elif command.opaque in sent:
                yield sent[command.opaque], command


def frame_clauses_in(transcripts: Iterable[Transcript]) -> set[str]:
    """Return the clauses about any frame that *transcripts* may break.

    A response has the opaque of no earlier request or of a oneway one, or is followed
    by bytes that are no frame. A request has a ROCKETMQ header, or gets no response
    and no broker may hold it. Nothing is known of a connection behind a request that
    cannot be read.
    """
    return {clause for one in transcripts for clause in _frame_clauses(one)}


def _frame_clauses(transcript: Transcript) -> Iterator[str]:
    sent: dict[int, Command] = {}
    answered: set[int] = set()
    for entry, command in _read(transcript):
        if entry.direction is Direction.SENT:
            if command is None:
                return
            sent[command.opaque] = command
            if command.serialize_type == SerializeType.ROCKETMQ:
                yield "WIRE-BINARY-001"
        elif command is None:
            if entry.data:
                yield "WIRE-FRAME-004"
        elif command.is_response and command.opaque not in sent:
            yield "WIRE-COMMAND-003"
        elif command.is_response:
            answered.add(command.opaque)
            if sent[command.opaque].is_oneway:
                yield "WIRE-COMMAND-002"
    waiting = (sent[opaque] for opaque in sent.keys() - answered)
    if any(
        not (one.is_response or one.is_oneway or one.code in HELD) for one in waiting
    ):
        yield "WIRE-COMMAND-009"


def sent_codes(transcripts: Iterable[Transcript]) -> set[int]:
    """Return the codes of all requests that were sent."""
    return {
        command.code
        for transcript in transcripts
        for _, direction, command in _commands(transcript)
        if direction is Direction.SENT
    }


def last_request(transcripts: Iterable[Transcript]) -> int | None:
    """Return the code of the request that was sent last, None without any."""
    sent = [
        (transcript.opened_at_ms + at_ms, command.code)
        for transcript in transcripts
        for at_ms, direction, command in _commands(transcript)
        if direction is Direction.SENT
    ]
    return max(sent)[1] if sent else None


def _commands(transcript: Transcript) -> Iterator[tuple[int, Direction, Command]]:
    for entry, command in _read(transcript):
        if command is not None:
            yield entry.at_ms, entry.direction, command


def _read(transcript: Transcript) -> Iterator[tuple[Entry, Command | None]]:
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
