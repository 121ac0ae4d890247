"""
Unknown request codes: the reaction of a server, and failures that it explains.

A server that closes the connection or stays silent refuses nothing: each test of a
request that it lacks would fail for itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from conformance.harness.baseline.frame_checks import expect_wire, peer_of
from conformance.harness.baseline.signs import unanswered_in
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import (
    PeerError,
    PeerMisbehavedError,
    WrongOpaqueError,
)
from conformance.harness.client.transcript import Transcript
from conformance.harness.targets.probing.probe import unanswered_codes
from conformance.harness.targets.probing.probe_requests import NONSENSE_CODE
from conformance.harness.targets.probing.sent_again import KNOWN_CODES, is_found_again
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command

SILENT_BROKER, BROKER = "WIRE-CONN-002", "WIRE-CONN-003"
SILENT_NAME_SERVER, NAME_SERVER = "WIRE-CONN-004", "WIRE-CONN-005"
"""Clauses about unknown codes, of early releases and of later ones."""
OF_BROKER, OF_NAME_SERVER = {SILENT_BROKER, BROKER}, {SILENT_NAME_SERVER, NAME_SERVER}


def check_has_response(clause: str, address: Address | None) -> None:
    """Check that a request with an unknown code has a response.

    Tests compare its code. A server that checks access has one of its own.
    """
    with peer_of(address) as peer:
        try:
            peer.request(Command(code=NONSENSE_CODE))
        except WrongOpaqueError:
            return  # the step of refused requests is about opaques
        except PeerMisbehavedError as error:
            expected = "a response to the unknown request code"
            expect_wire(clause, False, error.reason, expected)


def check_stays_open(clause: str, address: Address | None, known: Command) -> None:
    """Check that the connection is open after a request with an unknown code.

    A refusal is accepted: it is of more use than the silence of these releases.
    """
    with peer_of(address) as peer:
        peer.send(Command(code=NONSENSE_CODE))
        try:
            sent = peer.send(known)
            peer.receive_response(sent.opaque)
        except WrongOpaqueError:
            return  # the refusal itself
        except (PeerError, PeerMisbehavedError) as error:
            found = getattr(error, "reason", str(error))
            expected = "a response to the request behind one with an unknown code"
            expect_wire(clause, False, found, expected)


def explained_by(
    clauses: Iterable[str],
    transcripts: Iterable[Transcript],
    *,
    namesrv: str,
    access: str,
) -> set[str]:
    """Return those of the defective *clauses* that a lacking request explains.

    It has no response in *transcripts*, and none when it is sent again without fields.

    *namesrv* is the name server's address, *access* the settings of the clients.
    """
    defective = (OF_BROKER | OF_NAME_SERVER).intersection(clauses)
    if not defective:
        return set()
    found: set[str] = set()
    for transcript in transcripts:
        is_of_name_server = transcript.peer == namesrv
        about = defective & (OF_NAME_SERVER if is_of_name_server else OF_BROKER)
        codes = {one.code for one in unanswered_in(transcript)} & KNOWN_CODES
        if about and any(
            is_found_again(unanswered_codes, transcript.peer, code, access)
            for code in codes
        ):
            found |= about
    return found


def lacking_request(clauses: Iterable[str], target: Target) -> str | None:
    """Return that of the defective *clauses* which explains the running step."""
    found = explained_by(
        clauses,
        CONVERSATIONS.transcripts(),
        namesrv=str(target.namesrv or ""),
        access=urlencode(target.access_settings),
    )
    return next(iter(found), None)
