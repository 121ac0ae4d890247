"""
Expectations: the functions by which a test fails a clause.

Each takes the clause's id, so that the failure contains its sentence, and the found and
the expected value, in the field's own units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from conformance.harness.client.peer_errors import PeerMisbehavedError
from conformance.harness.client.requests.invoker import Invoker
from conformance.harness.client.transcript import Transcript
from conformance.harness.failure.failure import ConformanceFailure, Evidence, Finding
from conformance.harness.process.deadline import comes_true
from spec.layout import LayoutError
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

READABLE = "bytes in the specified layout"
"""Expected value where bytes of a peer cannot be decoded."""


def expect(
    clause_id: str,
    *,
    found: object,
    expected: object,
    what: str = "",
    transcript: Transcript | None = None,
    evidence: Evidence | None = None,
    sent: str = "",
) -> None:
    """Fail *clause_id* unless *found* equals *expected*.

    *what* names the compared value; the bytes of a header field are marked. *evidence*
    shows other bytes, *sent* replaces the last sent frame.
    """
    if found == expected:
        return
    finding = Finding(found=found, expected=expected, what=what)
    raise ConformanceFailure(
        clause_id, [finding], transcript=transcript, evidence=evidence, sent=sent
    )


def expect_that(
    clause_id: str,
    condition: bool,
    *,
    found: object,
    expected: str,
    what: str = "",
    transcript: Transcript | None = None,
    evidence: Evidence | None = None,
    sent: str = "",
) -> None:
    """Fail *clause_id* unless *condition* holds; *expected* describes it."""
    if condition:
        return
    finding = Finding(found=found, expected=expected, what=what)
    raise ConformanceFailure(
        clause_id, [finding], transcript=transcript, evidence=evidence, sent=sent
    )


def expect_in_time(
    clause_id: str,
    read: Callable[[], object],
    *,
    expected: object,
    what: str,
    timeout_s: float = 10.0,
    transcript: Transcript | None = None,
) -> None:
    """Fail *clause_id* unless *read* returns *expected* within *timeout_s*."""
    comes_true(lambda: read() == expected, timeout_s)
    expect(
        clause_id,
        found=read(),
        expected=expected,
        what=f"{what}, at most {timeout_s:g} s later",
        transcript=transcript,
    )


def expect_fields(
    clause_id: str,
    *,
    found: Mapping[str, object],
    expected: Mapping[str, object],
    transcript: Transcript | None = None,
    evidence: Evidence | None = None,
    sent: str = "",
) -> None:
    """Fail *clause_id* unless *found* has every field of *expected* with its value.

    All wrong fields are listed, not only the first.
    """
    wrong = [
        Finding(found=found.get(name, "(absent)"), expected=value, what=name)
        for name, value in expected.items()
        if found.get(name, "(absent)") != value
    ]
    if wrong:
        raise ConformanceFailure(
            clause_id, wrong, transcript=transcript, evidence=evidence, sent=sent
        )


@contextmanager
def charged(clause_id: str, transcript: Transcript) -> Iterator[None]:
    """Fail *clause_id* where the block cannot decode the peer's bytes."""
    try:
        yield
    except LayoutError as error:
        finding = Finding(found=str(error), expected=READABLE)
        raise ConformanceFailure(clause_id, [finding], transcript=transcript) from None


def expect_request(
    clause_id: str,
    receiver: Invoker,
    code: RequestCode,
    *,
    transcript: Transcript | None = None,
) -> Command:
    """Return the next request with *code* from the peer; fail *clause_id* without.

    The failure shows *transcript*, or else the conversation with the receiver.
    """
    try:
        return receiver.peer.receive_request(code)
    except PeerMisbehavedError as error:
        finding = Finding(found=error.reason, expected=f"{code.name} ({code:d})")
        raise ConformanceFailure(
            clause_id, [finding], transcript=transcript or error.transcript
        ) from None


def expect_code(
    clause_id: str, response: Command, code: int, transcript: Transcript
) -> None:
    """Fail *clause_id* unless *response* has this response code."""
    expect(
        clause_id,
        found=response.code,
        expected=code,
        what="code",
        transcript=transcript,
    )
