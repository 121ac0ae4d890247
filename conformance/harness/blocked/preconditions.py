"""
Preconditions of a test: requests that have to succeed before its own step.

A target that refuses one of them does not fail the clause of the test: the test is
*blocked* by the clause about that request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from conformance.harness.baseline.baseline import CHECKSUM, is_wrong_checksum
from conformance.harness.blocked.skips import blocked, unsupported
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.exchanges import exchanges, last_request
from conformance.harness.client.peer_errors import PeerMisbehavedError, WrongOpaqueError
from conformance.harness.client.requests.invoker import RefusedError
from conformance.harness.client.transcript import Transcript
from conformance.harness.process.deadline import TooLateError
from spec.layout import LayoutError
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

REQUEST_CLAUSES: dict[int, str] = {
    RequestCode.UPDATE_AND_CREATE_TOPIC: "ADMIN-TOPIC-001",
    RequestCode.GET_ROUTEINFO_BY_TOPIC: "ROUTE-DATA-001",
    RequestCode.REGISTER_BROKER: "ROUTE-REG-001",
    RequestCode.SEND_MESSAGE: "SEND-RESPONSE-001",
    RequestCode.SEND_MESSAGE_V2: "SEND-RESPONSE-001",
    RequestCode.SEND_BATCH_MESSAGE: "SEND-BATCH-001",
    RequestCode.PULL_MESSAGE: "PULL-FOUND-001",
    RequestCode.GET_MAX_OFFSET: "OFFSET-MAX-001",
    RequestCode.GET_MIN_OFFSET: "OFFSET-MIN-001",
    RequestCode.UPDATE_CONSUMER_OFFSET: "OFFSET-COMMIT-001",
    RequestCode.QUERY_CONSUMER_OFFSET: "OFFSET-COMMIT-001",
    RequestCode.VIEW_MESSAGE_BY_ID: "QUERY-ID-001",
    RequestCode.HEART_BEAT: "GROUP-MEMBER-001",
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: "ADMIN-GROUP-001",
    RequestCode.LOCK_BATCH_MQ: "GROUP-LOCK-001",
    RequestCode.CONSUMER_SEND_MSG_BACK: "RETRY-SENDBACK-001",
    RequestCode.UPDATE_BROKER_CONFIG: "ADMIN-CONFIG-001",
}
"""The clause about the success of a request, for requests that tests begin with."""
PRECONDITION_ERRORS = (RefusedError, PeerMisbehavedError, TooLateError, LayoutError)
"""Errors of a fixture whose target does not do what the test needs."""


@contextmanager
def precondition() -> Iterator[None]:
    """End the running test without a verdict where the block's requests fail."""
    try:
        yield
    except PRECONDITION_ERRORS as error:
        if lacks_request(error):
            unsupported(precondition_reason(error))
        blocked(precondition_reason(error))


def precondition_reason(error: BaseException) -> str:
    """Return why a test is blocked whose fixture raised *error*, in one line."""
    happened = first_line(error)
    if isinstance(error, WrongOpaqueError) and error.refusal is None:
        return f"blocked by {error.clause}, {happened}"
    if is_wrong_checksum(error):
        return f"blocked by {CHECKSUM}, {happened}"
    request = _request_of(error)
    if request is None:
        return happened
    named = f"{_name_of(request)}: {happened}"
    clause = REQUEST_CLAUSES.get(request)
    if isinstance(error, WrongOpaqueError):
        clause = clause or error.clause
    return f"blocked by {clause}, {named}" if clause else named


def refused_step(error: BaseException, clauses: Collection[str]) -> str:
    """Return why *error* is the refusal of a step before the one of *clauses*.

    It is where another area of clauses is about the refused request, as SEND is about
    the send in a test of transactions. Empty where it is not.
    """
    if not isinstance(error, RefusedError):
        return ""
    code = _refused_code(error)
    about = REQUEST_CLAUSES.get(code, "") if code is not None else ""
    area = about.partition("-")[0]
    if code is None or not area:
        return ""
    if any(name.partition("-")[0] == area for name in clauses):
        return ""
    return f"blocked by {about}, {_name_of(code)}: {first_line(error)}"


def _request_of(error: BaseException) -> int | None:
    """Return the code of the request that *error* is about, the last one if unknown."""
    code = _refused_code(error) if isinstance(error, RefusedError) else None
    return last_request(CONVERSATIONS.transcripts()) if code is None else code


def _refused_code(error: RefusedError) -> int | None:
    """Return the code of the request whose refusal *error* is."""
    refused = refused_exchange(error)
    return None if refused is None else refused[1].code


def refused_exchange(error: RefusedError) -> tuple[Transcript, Command] | None:
    """Return the refused request of *error*, behind the transcript that has it."""
    for transcript in CONVERSATIONS.transcripts():
        for sent, response in exchanges([transcript]):
            if (response.opaque, response.code) == (error.opaque, error.code):
                return transcript, sent
    return None


def lacks_request(error: BaseException) -> bool:
    """Return whether *error* is the refusal of a request that the target lacks."""
    lacking = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    return isinstance(error, RefusedError) and error.code == lacking


def first_line(error: BaseException) -> str:
    """Return the first line of *error*, without the frames."""
    if isinstance(error, PeerMisbehavedError):
        return error.reason
    return str(error).partition("\n")[0]


def _name_of(code: int) -> str:
    try:
        return RequestCode(code).name
    except ValueError:
        return f"request {code}"
