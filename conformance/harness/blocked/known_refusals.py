"""
Failures caused by a request code that the target does not have, or by its guard.

Such a target does not have the feature, or admits only signed requests: the test is
*unsupported*, counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs

from conformance.harness.baseline.refusing_settings import is_refused_access
from conformance.harness.client.access import CREDENTIALS
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.exchanges import commands_of, exchanges
from conformance.harness.client.transcript import Direction, Transcript
from conformance.harness.targets.probing.probe import refused_codes
from conformance.harness.targets.probing.sent_again import KNOWN_CODES, is_found_again
from conformance.harness.targets.shared_target import refuses_of
from spec.security.signature import ACCESS_KEY
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def refusal_in_test(description: Mapping[str, str]) -> str | None:
    """Return the reason why the running test has no verdict on this target, or None.

    A foreign target may refuse any request that Apache has, unless it is dishonest.
    The refusals of any other target count only if they were found before the run.
    """
    refuses = refuses_of(description)
    if description.get("is_foreign") and not description.get("violations"):
        refuses = KNOWN_CODES
    transcripts = CONVERSATIONS.transcripts() if refuses else []
    codes = refused_in(transcripts, refuses)
    if not codes and refuses == KNOWN_CODES:
        codes = refused_oneway(transcripts, description.get("access", ""))
    names = ", ".join(RequestCode(code).name for code in codes)
    return f"the target refuses the request {names}" if names else None


def busy_in_test(description: Mapping[str, str], required: str) -> str | None:
    """Return the reason why the running test has no verdict on a busy target, or None.

    Under load every release refuses requests with SYSTEM_BUSY, and with a full disk
    with SERVICE_NOT_AVAILABLE. A code that the text *required* names is no reason.
    """
    transcripts = CONVERSATIONS.transcripts() if description.get("is_foreign") else []
    for by in (ResponseCode.SYSTEM_BUSY, ResponseCode.SERVICE_NOT_AVAILABLE):
        codes = refused_in(transcripts, KNOWN_CODES, by=by)
        if codes and by.name not in required:
            names = ", ".join(RequestCode(code).name for code in codes)
            return f"the target is busy: {by.name} ({by:d}) to {names}"
    return None


def refusal_of_unsigned(description: Mapping[str, str]) -> str | None:
    """Return the reason why a test without signatures has no verdict, or None.

    The clients of the suite sign for a target with credentials. Tests of bytes do not.
    """
    if CREDENTIALS not in parse_qs(description.get("access", "")):
        return None
    for transcript in CONVERSATIONS.transcripts():
        signed: set[int] = set()
        for _, direction, command in commands_of(transcript):
            if direction is Direction.SENT and ACCESS_KEY in command.fields:
                signed.add(command.opaque)
            is_refused = (
                command.code == ResponseCode.NO_PERMISSION or is_refused_access(command)
            )
            # A request of bytes that are no command has any opaque.
            if command.is_response and is_refused and command.opaque not in signed:
                return "the target refuses its requests, which are not signed"
    return None


def refused_in(
    transcripts: Iterable[Transcript],
    refuses: frozenset[int],
    by: ResponseCode = ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
) -> list[int]:
    """Return the codes among *refuses* that were sent and refused by the code *by*."""
    found = {
        sent.code for sent, response in exchanges(transcripts) if response.code == by
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
            for _, direction, command in commands_of(transcript)
            if direction is Direction.SENT
            and command.is_oneway
            and command.code in KNOWN_CODES
            and is_found_again(refused_codes, transcript.peer, command.code, access)
        }
    )
