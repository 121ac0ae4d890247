"""
Evidence made from a run: its report, without the values of that day.

A report becomes evidence only if it is about Apache RocketMQ with default settings, and
about all clauses of the suites.
"""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import dataclass, replace

from conformance.harness.report.evidence.evidence_differences import is_release
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import ClauseEntry, Report
from java_runtime.find_java import find_java
from spec.observed import EvidenceError, Observed
from spec.registry import all_clauses

REASON_LIMIT = 300
UNMET = (Outcome.FAIL, Outcome.ERROR, Outcome.KNOWN)
NEED_NO_REASON = (Outcome.PASS, Outcome.NOT_APPLICABLE)
"""Outcomes that need no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Values that are the same for all releases of one recording."""

    tested: frozenset[str]
    """All clauses that a test of a suite names."""
    recorded: str
    java: str


def evidence_of(report: Report, recording: Recording) -> Observed:
    """Return *report* as evidence.

    Raises EvidenceError unless it is the report of a whole run on a release.
    """
    observed = _observed(report, recording)
    silent = (None, Outcome.NOT_APPLICABLE)
    testable = _testable(recording, observed.release)
    missing = sorted(name for name in testable if observed.outcomes.get(name) in silent)
    if missing:
        raise EvidenceError(
            f"the report on {observed.target} lacks {len(missing)} clauses,"
            f" {missing[0]} for one: it is not of a whole run"
        )
    return observed


def merge_evidence(
    older: Observed | None, report: Report, recording: Recording
) -> Observed:
    """Return *older* evidence with the additions of *report*, perhaps of a few tests.

    Outcomes that the report lacks stay, and those that it replaces by an error of the
    harness. A pass stays unless the clause is unmet now: only some of its tests may
    have run. Outcomes of clauses that were removed, or do not apply to the release now,
    are dropped.
    """
    observed = _observed(report, recording)
    if older is None:
        return observed
    testable = _testable(recording, observed.release)
    kept = {
        name: outcome
        for name, outcome in older.outcomes.items()
        if name in testable
        and (
            observed.outcomes.get(name, Outcome.ERROR) == Outcome.ERROR
            or (outcome == Outcome.PASS and observed.outcomes[name] not in UNMET)
        )
    }
    reasons = {n: why for n, why in older.reasons.items() if n in kept}
    reasons |= {n: why for n, why in observed.reasons.items() if n not in kept}
    outcomes = {**observed.outcomes, **kept}
    return replace(observed, outcomes=outcomes, reasons=reasons)


def _observed(report: Report, recording: Recording) -> Observed:
    text, release = report.target.text, report.target.release
    if report.target.error:
        raise EvidenceError(f"{text} did not run: {report.target.error}")
    if not is_release(text, release):
        raise EvidenceError(f"{text!r} is no release of Apache RocketMQ as it comes")
    results = [entry for entry in report.results if entry.id in all_clauses()]
    others = recording.tested - _testable(recording, release)
    outcomes = dict.fromkeys(others, Outcome.NOT_APPLICABLE.value)
    outcomes |= {entry.id: entry.outcome.value for entry in results}
    reasons = {entry.id: _reason(entry) for entry in results}
    return Observed(
        release=release,
        target=text,
        recorded=recording.recorded,
        java=recording.java,
        suite_version=report.suite_version,
        outcomes=outcomes,
        reasons={name: reason for name, reason in reasons.items() if reason},
    )


def _testable(recording: Recording, release: str) -> frozenset[str]:
    """Return the tested clauses that are about *release*."""
    clauses = all_clauses()
    return frozenset(n for n in recording.tested if clauses[n].applies_to(release))


@functools.cache
def java_in_use() -> str:
    """Return the version of the Java that runs the releases, such as 21.0.8."""
    run = subprocess.run(
        [str(find_java()), "-version"], capture_output=True, text=True, timeout=60
    )
    match = re.search(r'version "([^"]+)"', run.stderr)
    return match.group(1) if match else "unknown"


def _reason(entry: ClauseEntry) -> str:
    if entry.outcome in NEED_NO_REASON:
        return ""
    failure = entry.failure
    found = f"found {failure.found}" if failure and failure.found else ""
    return (entry.reason or found or "no reason was given")[:REASON_LIMIT]
