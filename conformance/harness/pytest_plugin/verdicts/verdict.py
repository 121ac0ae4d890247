"""
Verdict of a test about its clauses.

A failure belongs to the clause that it names, or else to all clauses of the test. An
unreachable target or a failing fixture is an error, without a verdict.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis.errors import HypothesisException

from conformance.harness.baseline.baseline import CHECKSUM, is_wrong_checksum
from conformance.harness.blocked.preconditions import (
    PRECONDITION_ERRORS,
    lacks_request,
    precondition_reason,
    refused_exchange,
    refused_step,
)
from conformance.harness.blocked.skips import of_skip
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import (
    PeerError,
    PeerMisbehavedError,
    WrongOpaqueError,
)
from conformance.harness.client.requests.invoker import MissingMemberError, RefusedError
from conformance.harness.client.transcript import Transcript
from conformance.harness.failure.artifacts import NOTHING, Artifacts
from conformance.harness.failure.examples import notes_of, peers_error
from conformance.harness.failure.failure import (
    ConformanceFailure,
    Finding,
    clause_block,
    row,
)
from conformance.harness.process.deadline import TooLateError
from conformance.harness.process.process import ProcessError, end_reports
from conformance.harness.process.workspace import shortage
from conformance.harness.pytest_plugin.expectations import READABLE
from conformance.harness.pytest_plugin.options import Options, suite_of
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import Verdict
from conformance.harness.targets.target import CLIENT, NoServerError, TargetError
from spec.layout import LayoutError
from spec.registry import all_clauses

TEXT_LIMIT = 20_000
"""Characters of a failure that a report keeps."""
OTHERS_MOST = 3
"""Connections that a failure shows beside the latest."""
CLIENT_SUITE = "client"
TARGET_ERRORS = (PeerError, TargetError, ProcessError)
"""The target could not be reached or started."""
_KEYWORD = re.compile(r"[\w:+.\[\]\\/-]+")
"""A word of pytest's option -k. Other characters of a name would not be understood."""
_OPERATORS = {"and", "or", "not"}
VALID_RESPONSE = "a valid response"
"""Expected value where a peer closed, was silent or sent an invalid response."""


def verdict_of(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    *,
    clauses: list[str],
    charges_all: bool = False,
) -> Verdict | None:
    """Return the verdict of a phase of *item*; None for a phase without one.

    With *charges_all*, every failure is one of the clauses, also an error of our own.
    """
    if report.passed and report.when != "call":
        return None
    verdict = Verdict(
        test=item.nodeid,
        clauses=clauses,
        outcome=Outcome.PASS,
        duration_s=round(report.duration, 4),
    )
    if report.passed or call.excinfo is None:
        return verdict
    error = peers_error(call.excinfo.value)
    if charges_all and report.when == "call" and _is_charged(error):
        return _failed(verdict, error, _blamed(error) or clauses)
    return _of_error(verdict, error, report)


def _of_error(
    verdict: Verdict, error: BaseException, report: pytest.TestReport
) -> Verdict:
    """Return *verdict* of the phase that *error* ended."""
    if report.skipped or isinstance(error, pytest.skip.Exception):
        outcome, reason = of_skip(str(error))
        return replace(verdict, outcome=outcome, reason=reason)
    if reason := shortage():  # a target reports it in any way
        return _errored(verdict, reason)
    if report.when == "setup" and isinstance(error, PRECONDITION_ERRORS):
        return _refused(verdict, error, precondition_reason(error))
    if isinstance(error, NoServerError):
        return replace(verdict, outcome=Outcome.UNSUPPORTED, reason=str(error))
    if report.when != "call" or isinstance(error, TARGET_ERRORS):
        ended = end_reports() if isinstance(error, PeerError) else []
        return _errored(verdict, "\n".join([*ended, str(error)]))
    if reason := refused_step(error, verdict.clauses):
        return _refused(verdict, error, reason)
    if not _is_about_peer(error):
        return _errored(verdict, f"{type(error).__name__}: {error}")
    return _failed(verdict, error)


def _errored(verdict: Verdict, reason: str) -> Verdict:
    """Return *verdict* of a test that the harness or the target did not run."""
    return replace(verdict, outcome=Outcome.ERROR, reason=reason[:TEXT_LIMIT])


def _refused(verdict: Verdict, error: BaseException, reason: str) -> Verdict:
    """Return *verdict* of a test whose precondition the target refused."""
    lacks = lacks_request(error)
    outcome = Outcome.UNSUPPORTED if lacks else Outcome.BLOCKED
    return replace(verdict, outcome=outcome, reason=reason)


def _is_charged(error: BaseException) -> bool:
    """Return whether *error* ended a test that ran on a target."""
    is_skip = isinstance(error, pytest.skip.Exception)
    return not isinstance(error, (*TARGET_ERRORS,)) and not is_skip


def _is_about_peer(error: BaseException) -> bool:
    """Return whether *error* is about the peer's behaviour, and not our own."""
    if isinstance(error, BaseExceptionGroup):
        return any(_is_about_peer(part) for part in error.exceptions)
    return isinstance(error, AssertionError | LayoutError | HypothesisException)


def _blamed(error: BaseException) -> list[str]:
    """Return the clauses that *error* names."""
    return list(dict.fromkeys(failure.clause.id for failure in failures_in(error)))


def _failed(
    verdict: Verdict, error: BaseException, charged: list[str] | None = None
) -> Verdict:
    """Return *verdict* of a failure of the *charged* clauses.

    By default these are the clauses that *error* names, or else the first one.
    """
    failures = list(failures_in(error))
    blamed = charged or _blamed(error) or verdict.clauses
    if not failures and (converted := as_failure(error, verdict.clauses)):
        failures = [converted]
        blamed = charged or [converted.clause.id]
    findings = [finding for failure in failures for finding in failure.findings]
    return replace(
        verdict,
        outcome=Outcome.FAIL,
        blamed=blamed,
        text=str(error)[:TEXT_LIMIT],
        values=[finding.what for finding in findings if finding.what],
        found="\n".join(finding.found_text for finding in findings),
        expected="\n".join(finding.expected_text for finding in findings),
    )


def failures_in(error: BaseException) -> Iterator[ConformanceFailure]:
    """Yield the conformance failures that *error* is or, as a group, holds."""
    if isinstance(error, ConformanceFailure):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from failures_in(part)


def as_failure(error: BaseException, clauses: list[str]) -> ConformanceFailure | None:
    """Return *error* as a failure of the first clause, where a peer misbehaved.

    Of several, as Hypothesis may find them, it is the first.
    """
    if isinstance(error, BaseExceptionGroup) and clauses:
        found = (as_failure(part, clauses) for part in error.exceptions)
        return next(filter(None, found), None)
    if not clauses:
        return None
    if isinstance(error, WrongOpaqueError):
        finding = Finding(found=error.reason, expected=error.expected)
        return ConformanceFailure(error.clause, [finding], transcript=error.transcript)
    if isinstance(error, PeerMisbehavedError):
        finding = Finding(found=error.reason, expected=VALID_RESPONSE)
        return ConformanceFailure(clauses[0], [finding], transcript=error.transcript)
    clause = CHECKSUM if is_wrong_checksum(error) else clauses[0]
    for kind, finding_of in _FINDINGS.items():
        if isinstance(error, kind):
            finding = finding_of(error)
            transcript = _transcript_of(error)
            return ConformanceFailure(clause, [finding], transcript=transcript)
    return None


def _transcript_of(error: BaseException) -> Transcript | None:
    """Return the transcript with the refusal that *error* is, else the latest one."""
    refused = refused_exchange(error) if isinstance(error, RefusedError) else None
    return CONVERSATIONS.latest() if refused is None else refused[0]


_FINDINGS: Mapping[type[BaseException], Callable[[Any], Finding]] = {
    RefusedError: lambda error: Finding(found=str(error), expected=error.expected),
    MissingMemberError: lambda error: Finding(
        found=str(error), expected=f"a body with {error.name}"
    ),
    LayoutError: lambda error: Finding(found=str(error), expected=READABLE),
    TooLateError: lambda error: Finding(found=error.found, expected=error.what),
}
"""Finding of an error, by its kind; the first that fits is used."""


def text_of_error(
    error: BaseException,
    item: pytest.Item,
    options: Options,
    *,
    clauses: list[str],
    kept: Artifacts = NOTHING,
) -> str | None:
    """Return the text to print instead of a traceback; None for the traceback."""
    error = peers_error(error)
    failures = list(failures_in(error))
    converted = None if failures else as_failure(error, clauses)
    if converted is not None:
        failures.append(converted)
    if not failures:
        return None
    parts = [str(failure) for failure in failures]
    if any(failure.transcript for failure in failures):
        parts += other_frames(error)
    elif not any(failure.evidence for failure in failures):
        parts += rendered()
    if suite_of(item) == CLIENT_SUITE:
        parts.append(sentence_of(item))
    parts += notes_of(error, item)
    return "\n\n".join([*parts, last_rows(item, options, kept)])


def other_frames(error: BaseException) -> list[str]:
    """Return the frames of other connections than the latest, after a wait in vain.

    The request without an effect may have been sent on one of them.
    """
    latest = CONVERSATIONS.latest()
    if latest is None or not isinstance(error, TooLateError):
        return []
    return rendered(without=latest)


def rendered(*, without: Transcript | None = None) -> list[str]:
    """Return the frames of the last connections, but for those of one of them."""
    ends = None if without is None else (without.peer, without.local)
    transcripts = CONVERSATIONS.transcripts()
    others = [one for one in transcripts if (one.peer, one.local) != ends]
    return [textwrap.indent(one.render(), "  ") for one in others[-OTHERS_MOST:]]


def sentence_of(item: pytest.Item) -> str:
    """Return the row with the name of a test as a sentence."""
    name, _, variant = item.name.partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    variants = f" ({variant.removesuffix(']')})" if variant else ""
    return row("test", f"{words}{variants}")


def text_of_traceback(
    traceback: str,
    item: pytest.Item,
    options: Options,
    *,
    clauses: list[str],
    kept: Artifacts = NOTHING,
) -> str:
    """Return the text of a failure that does not name a clause."""
    transcript = CONVERSATIONS.latest()
    talk = textwrap.indent(transcript.render(), "  ") if transcript is not None else ""
    parts = [clauses_text(clauses), traceback, talk, last_rows(item, options, kept)]
    return "\n\n".join(filter(None, parts))


def last_rows(item: pytest.Item, options: Options, kept: Artifacts) -> str:
    """Return the paths of the artifacts, and the command that repeats the test."""
    directory = options.report or Path()
    files = [row(name, str(directory / file)) for name, file in kept.rows()]
    if kept.problem:
        files.append(row("capture", kept.problem))
    return "\n".join([*files, row("again", again(item, options))])


def again(item: pytest.Item, options: Options) -> str:
    """Return the one command that runs *item* again, and prints as much."""
    words = [word for word in _KEYWORD.findall(item.name) if word not in _OPERATORS]
    name = " and ".join(words)
    profile = f" --profile {options.profile}" if options.profile else ""
    command = f"rmqc test --target '{options.target}'"
    if options.target.startswith(CLIENT):
        adapter = shlex.quote(options.target.removeprefix(CLIENT))
        command = f"rmqc test-client --adapter {adapter}"
    return f"{command}{profile} -k '{name}' -v"


def clauses_text(clauses: list[str]) -> str:
    """Return the sentences of *clauses*, for a failure that names none itself."""
    return "\n".join(clause_block(all_clauses()[name]) for name in clauses)
