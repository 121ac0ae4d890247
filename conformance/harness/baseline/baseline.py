"""
Baseline: the requests that nearly all tests begin with, in their simplest form.

They run once, before the tests. A request that fails here fails everywhere: later
failures of tests that use it are *blocked* by the clause that the baseline names. A
value that few tests rely on blocks only tests that found the same value wrong.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from conformance.harness.baseline.plain_requests import PlainRequests
from conformance.harness.baseline.refusing_settings import (
    refused_access,
    refusing_settings,
)
from conformance.harness.baseline.steps import (
    NEW_ROUTE_STEP,
    ROUTE_STEP,
    SENDS,
    STEPS,
    Step,
)
from conformance.harness.baseline.unknown_codes import lacking_request
from conformance.harness.client.client import RefusedError
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import (
    PeerError,
    PeerMisbehavedError,
    WrongOpaqueError,
)
from conformance.harness.failure.failure import (
    ConformanceFailure,
    clause_block,
    format_value,
    row,
)
from conformance.harness.process.deadline import TooLateError
from conformance.harness.targets.shared_target import LATE_ROUTES
from conformance.harness.targets.target import NoServerError, Target, TargetError
from spec.layout import LayoutError
from spec.registry import all_clauses
from spec.wire.remoting.response_code import ResponseCode

ATTEMPTS = 2
"""A target that has just started may refuse a request once."""
CHECKSUM, CHECKSUM_FIELD = "STORE-CRC-001", "body_crc"
ROOMS_OF_RECORDS = ("STORE-", "SEND-", "WIRE-MESSAGEID-", "WIRE-PROPERTIES-")
"""Clauses about stored messages: they concern every test that sends one."""
MINOR = {
    "ROUTE-DATA-001": ("write queues",),
    "ROUTE-DATA-002": ("addresses", "address of the master"),
    "SEND-TIME-001": ("born time", "born_at_ms"),
    "SEND-HOST-001": ("born_host", "born_port"),
}
"""Clauses about values that few tests rely on, and parts of the names of these."""
NO_RESPONSE = ("WIRE-FRAME-001", "WIRE-COMMAND-001", "WIRE-COMMAND-003")
"""Clauses without which a client cannot assign any response to its request."""
UNUSABLE = (
    *(PeerMisbehavedError, TooLateError, LayoutError),
    *(PeerError, TargetError, ValueError, TypeError),
)
"""Errors after which nothing is known of the response."""


class Baseline(StrEnum):
    """Extent of the baseline."""

    NONE = "none"
    READS = "reads"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """Failure of one request of the baseline."""

    step: str
    clause: str
    what: str
    """Name of the wrong value; empty where the request is of no use at all."""
    found: str
    expected: str
    text: str
    codes: tuple[int, ...]
    """Codes of the requests that fail with it; empty for all."""
    is_narrow: bool = False
    """Whether it explains only failures in whose frames it is seen."""
    is_late: bool = False
    """Whether something was waited for, in vain."""

    @property
    def is_total(self) -> bool:
        """Whether nothing that uses the request can succeed."""
        return not self.what

    @property
    def blocks_all(self) -> bool:
        """Whether no response of the server can be received at all."""
        return self.clause in NO_RESPONSE and not self.codes and not self.is_narrow

    @property
    def reason(self) -> str:
        """Reason why a test has no verdict."""
        return f"blocked by {self.clause}: {self.step} fails"

    def explains(self, codes: Collection[int], values: Collection[str]) -> bool:
        """Return whether a failed test that sent *codes* may have failed by this.

        *values* are the names of the values that the test found wrong.
        """
        if self.is_narrow or (self.codes and not set(self.codes).intersection(codes)):
            return False
        if self.clause not in MINOR or not self.what:
            return True
        names = MINOR[self.clause]
        return any(name in value for name in names for value in values)


@dataclass(frozen=True, slots=True)
class Checked:
    """Results of the steps of the baseline."""

    defects: list[Defect]
    passed: list[str]
    """Names of the steps that found no defect."""


def check_steps(target: Target, *, may_write: bool) -> Checked:
    """Return the results of the baseline of *target*.

    A defect of a step that needs a defective one has the clause of that one, which is
    most likely the cause.
    """
    plain = PlainRequests(target)
    useless: set[str] = set()
    causes: dict[str, str] = {}
    checked = Checked([], [])
    opaques: list[Defect] = []
    """They come last, so that they block only tests that nothing else explains."""
    for step in STEPS:
        if not all_clauses()[step.clause].applies_to(target.release):
            continue
        if useless.intersection(step.needs) or (step.writes and not may_write):
            useless.add(step.name)
            continue
        try:
            found = _attempt(step, plain)
        except (_LackingRequestError, NoServerError):
            useless.add(step.name)
            continue
        if not found:
            checked.passed.append(step.name)
            continue
        if refusing_settings(target) or refused_access(is_foreign=target.is_foreign):
            useless.add(step.name)
            continue
        cause = next((causes[name] for name in step.needs if name in causes), None)
        clauses = {one.clause for one in checked.defects}
        cause = cause or lacking_request(clauses, target)
        causes[step.name] = cause or found[0].clause
        found = [replace(one, is_narrow=step.is_narrow) for one in found]
        defect = replace(found[0], clause=causes[step.name])
        checked.defects.append(_with_text(defect))
        opaques += map(_with_text, found[1:])
        if defect.is_total:
            useless.add(step.name)
    checked.defects.extend(opaques)
    return checked


def _with_text(defect: Defect) -> Defect:
    """Return *defect* with its clause and the last attempt's frames in its text."""
    heading = clause_block(all_clauses()[defect.clause])
    parts = [] if defect.text.startswith(heading) else [heading]
    text = "\n\n".join([*parts, defect.text, _frames()]).rstrip()
    return replace(defect, text=text)


def is_wrong_checksum(error: BaseException) -> bool:
    """Return whether *error* is a record whose checksum is not that of its body."""
    return isinstance(error, LayoutError) and error.field == CHECKSUM_FIELD


def description_of(target: Target, baseline: Baseline) -> dict[str, str]:
    """Return defects and passed steps of *target* as a part of its description."""
    if baseline is Baseline.NONE:
        return {}
    with CONVERSATIONS.apart():
        checked = check_steps(target, may_write=baseline is Baseline.WHOLE)
    routes = (ROUTE_STEP, NEW_ROUTE_STEP)
    is_late = any(one.is_late and one.step in routes for one in checked.defects)
    return {
        "baseline": dump(checked.defects),
        "baseline_passed": "\n".join(checked.passed),
        LATE_ROUTES: "yes" if is_late else "",
    }


def dump(defects: Iterable[Defect]) -> str:
    """Return *defects* as text."""
    return json.dumps([asdict(one) for one in defects])


def load(text: str) -> list[Defect]:
    """Return the defects that were dumped; none for an empty text."""
    return [
        Defect(**{**values, "codes": tuple(values["codes"])})
        for values in json.loads(text or "[]")
    ]


class _LackingRequestError(Exception):
    """The target does not have the request."""


def _attempt(step: Step, plain: PlainRequests) -> list[Defect]:
    """Return the defects that *step* finds in its last attempt.

    The first one is the reason why the step fails.
    """
    defects: list[Defect] = []
    for _ in range(ATTEMPTS):
        CONVERSATIONS.begin()
        try:
            step.run(plain)
        except ConformanceFailure as failure:
            defects = [_of_failure(step, failure)]
        except RefusedError as error:
            if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                raise _LackingRequestError from None
            defects = [_total(step, str(error), "0 SUCCESS")]
        except NoServerError:
            raise
        except WrongOpaqueError as error:
            defects = list(_of_wrong_opaque(step, error))
        except UNUSABLE as error:
            clause = CHECKSUM if is_wrong_checksum(error) else step.clause
            found, expected = str(error), "a valid response"
            if isinstance(error, TooLateError):
                found, expected = error.found, error.what
            if isinstance(error, PeerMisbehavedError):
                found = error.reason
            defect = _total(step, found, expected, clause=clause)
            defects = [replace(defect, is_late=isinstance(error, TooLateError))]
        else:
            return []
    return defects


def _frames() -> str:
    """Return the frames of the last attempt, by connection."""
    rendered = [one.render() for one in CONVERSATIONS.transcripts()]
    return textwrap.indent("\n\n".join(rendered), "  ")


def _of_wrong_opaque(step: Step, error: WrongOpaqueError) -> Iterator[Defect]:
    """Yield the defects of a response with an opaque of no request.

    An error response is a defect of its own: the right opaque makes it no success.
    """
    opaque = _total(step, error.reason, error.expected, clause=error.clause)
    if error.refusal is not None:
        refused, clause = str(RefusedError(error.refusal)), step.refusal_clause
        yield _total(step, refused, "0 SUCCESS", clause=clause)
        opaque = replace(opaque, what="opaque")
    yield opaque


def _of_failure(step: Step, failure: ConformanceFailure) -> Defect:
    finding = failure.findings[0]
    return Defect(
        step=step.name,
        clause=failure.clause.id,
        what=finding.what,
        found=finding.found_text,
        expected=finding.expected_text,
        text=str(failure),
        codes=_codes_of(step, failure.clause.id),
    )


def _total(step: Step, found: str, expected: str, *, clause: str = "") -> Defect:
    return Defect(
        step=step.name,
        clause=clause or step.clause,
        what="",
        found=format_value(found.partition("\n")[0]),
        expected=expected,
        text=f"{step.name.capitalize()} fails.\n\n"
        + f"{row('got', format_value(found))}\n{row('expected', expected)}",
        codes=_codes_of(step, clause or step.clause),
    )


def _codes_of(step: Step, clause: str) -> tuple[int, ...]:
    """Return the codes of the requests that fail with *clause* in *step*."""
    is_of_record = bool(step.codes) and clause.startswith(ROOMS_OF_RECORDS)
    return (*SENDS, *step.codes) if is_of_record else step.codes
