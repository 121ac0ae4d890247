"""
The record of a run: every verdict, put together clause by clause.

Of several tests of a clause the gravest outcome counts. A test that stopped at one
clause decides nothing about its others: they are unsupported in it, not passed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from conformance.harness.report.known_failures import Known
from conformance.harness.report.outcome import GRAVITY, Outcome

BASELINE = "baseline: "
"""Beginning of the test of a verdict that is the baseline's."""
BROKEN = "a target that still runs"
"""Expected value where the target broke."""
SINCE = " since "
"""Between the problem of a target and the test that broke it, in a reason."""
STOPPED = "its test stopped at "
"""Beginning of the reason of a clause whose test failed another clause first."""
STALE = "stale entry of known failures"
"""Reason of a known failure that passes."""
FAILED = (Outcome.FAIL, Outcome.KNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Result of one test for its clauses."""

    test: str
    clauses: list[str]
    """Those that are about the target's release."""
    outcome: Outcome
    duration_s: float
    blamed: list[str] = field(default_factory=list)
    """The clauses that failed, where some did."""
    reason: str = ""
    """Why there is no verdict, or why the failure is a known one."""
    text: str = ""
    """The failure as it was printed."""
    broke: str = ""
    """Problem of the target since this test, where it broke the target."""
    values: list[str] = field(default_factory=list)
    """Names of the values that were found wrong."""
    found: str = ""
    expected: str = ""
    again: str = ""
    """The command that runs the test again, where it failed."""
    capture: str = ""
    """Capture of the connections, relative to the report; empty for none."""
    vector: str = ""
    """Test vectors of the smallest example that failed; empty for none."""

    def dump(self) -> str:
        """Return the verdict as text that a worker can hand over."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Verdict:
        """Return the verdict that was dumped."""
        values = json.loads(text)
        return cls(**{**values, "outcome": Outcome(values["outcome"])})


@dataclass(slots=True, kw_only=True)
class ClauseResult:
    """Outcome of one clause."""

    id: str
    outcome: Outcome
    tests: list[str]
    duration_s: float
    failure: Verdict | None
    """The verdict that decided, unless the clause passed."""
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Record:
    """The verdicts of a run, in the order in which they came."""

    known: tuple[Known, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)
    partial: set[str] = field(default_factory=set)
    """Clauses with tests that were not selected."""

    def add(self, verdict: Verdict) -> None:
        """Record the verdict of one test."""
        self.verdicts.append(verdict)

    def add_first(self, verdicts: Iterable[Verdict]) -> None:
        """Record *verdicts* that precede those of the tests."""
        self.verdicts[:0] = verdicts

    def results(self, description: Mapping[str, str]) -> list[ClauseResult]:
        """Return the outcome of every clause that a test of this run names."""
        by_clause: dict[str, list[tuple[Outcome, Verdict]]] = defaultdict(list)
        for verdict in self.verdicts:
            # A blamed clause counts even if it does not apply to the release: its test
            # has run and shows behaviour of another release.
            for name in dict.fromkeys([*verdict.clauses, *verdict.blamed]):
                by_clause[name].append((_outcome_for(name, verdict), verdict))
        results = [
            _result(name, verdicts) for name, verdicts in sorted(by_clause.items())
        ]
        stale = self.stale(results, description)
        return [
            _as_stale(result) if result.id in stale else result for result in results
        ]

    def stale(
        self, results: list[ClauseResult], description: Mapping[str, str]
    ) -> dict[str, Known]:
        """Return the entries of known failures whose clause passes in all its tests."""
        passed = {result.id for result in results if result.outcome is Outcome.PASS}
        passed -= self.partial
        target, release = description.get("text", ""), description.get("release", "")
        return {
            entry.clause: entry
            for entry in self.known
            if entry.clause in passed
            and not entry.flaky
            and entry.matches(target=target, release=release)
        }


def _outcome_for(name: str, verdict: Verdict) -> Outcome:
    if verdict.outcome in FAILED and name not in verdict.blamed:
        return Outcome.UNSUPPORTED
    return verdict.outcome


def _result(name: str, verdicts: list[tuple[Outcome, Verdict]]) -> ClauseResult:
    outcome, deciding = min(verdicts, key=lambda one: GRAVITY.index(one[0]))
    reason = deciding.reason
    if outcome is Outcome.UNSUPPORTED and deciding.blamed:
        reason = STOPPED + ", ".join(deciding.blamed)
    return ClauseResult(
        id=name,
        outcome=outcome,
        tests=sorted({verdict.test for _, verdict in verdicts}),
        duration_s=round(sum(verdict.duration_s for _, verdict in verdicts), 4),
        failure=None if outcome is Outcome.PASS else deciding,
        reason=reason,
    )


def _as_stale(result: ClauseResult) -> ClauseResult:
    text = f"{result.id} is listed as a known failure, but it passes: remove the entry."
    verdict = Verdict(
        test=result.tests[0],
        clauses=[result.id],
        outcome=Outcome.FAIL,
        duration_s=0.0,
        blamed=[result.id],
        text=text,
    )
    return ClauseResult(
        id=result.id,
        outcome=Outcome.FAIL,
        tests=result.tests,
        duration_s=result.duration_s,
        failure=verdict,
        reason=STALE,
    )
