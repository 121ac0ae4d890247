"""
Page of one run: the outcome of each clause, the gravest first, and the reasons.

It is one file without dependencies. Only the captures and test vectors of failing
tests, which it links, are separate files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.harness.report.causes import (
    by_family,
    causes_of,
    losses_of,
    stale_clauses,
)
from conformance.harness.report.missing_requests import missing_requests, requests_in
from conformance.harness.report.outcome import GRAVITY, Outcome
from conformance.harness.report.pages.badge import verdict_of
from conformance.harness.report.pages.rendering import SYMBOLS, render_template
from conformance.harness.report.report_json import FailureEntry, Report
from spec.registry import all_clauses

FORMATS = {".html": "run.html", ".md": "run.md", ".svg": "badge.svg"}
"""Template by the suffix of the file that is written."""
PAGE_OF_RUN = "report.html"
FILES = (PAGE_OF_RUN, "summary.md", "badge.svg")
"""Files beside report.json."""
MOST_CAUSES = 40
"""Causes that page and summary show with their values."""
MOST_WHOLE_IDS = 400
"""Most ids that a summary writes whole."""
_ORDER = {one.value: place for place, one in enumerate(GRAVITY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One clause of a run."""

    clause_id: str
    level: str
    text: str
    source: str
    issues: tuple[str, ...]
    outcome: str
    reason: str
    failure: FailureEntry | None
    tests: tuple[str, ...]
    duration_s: float

    @property
    def area(self) -> str:
        """The first word of the id."""
        return self.clause_id.partition("-")[0]

    @property
    def symbol(self) -> str:
        """The outcome as one character."""
        return SYMBOLS[self.outcome]


def run_page(report: Report, suffix: str) -> str:
    """Return the page of a run, its summary or its badge, by file suffix."""
    causes = causes_of(report.results)
    other_failed = [name for one in causes for name in one.clauses[1:]]
    other_failed += [one.clause_id for one in causes[MOST_CAUSES:]]
    entries = sorted(_entries(report), key=lambda one: _ORDER[one.outcome])
    return render_template(
        FORMATS[suffix],
        target=report.target,
        report=report,
        verdict=verdict_of(report),
        entries=entries,
        causes=causes,
        other_failed=other_failed,
        other_failed_text=_ids_text(other_failed),
        most_causes=MOST_CAUSES,
        errors=causes_of(report.results, "error"),
        stale=stale_clauses(report.results),
        known=[one for one in entries if one.outcome == "known"],
        remarks=remarks_of(report),
        counts=_counts(entries),
        reasons=_reasons(entries),
        requests=missing_requests(report.results),
        outcomes=[one.value for one in Outcome],
    )


def remarks_of(report: Report) -> list[str]:
    """Return remarks without which the counts mislead."""
    target = report.target
    remarks = []
    if target.error:
        remarks.append(f"The target did not run: {target.error}")
    if report.interrupted:
        remarks.append(f"The run was {report.interrupted}.")
    for loss in losses_of(report.results):
        remarks.append(f"The {loss.headline}: {loss.problem}.")
    for violation in target.violations:
        remarks.append(f"Not honest: {violation}; its refusals do not count.")
    return remarks


def _entries(report: Report) -> Iterator[Entry]:
    for result in sorted(report.results, key=lambda one: one.id):
        clause = all_clauses().get(result.id)
        yield Entry(
            clause_id=result.id,
            level=result.level or (clause.level if clause else ""),
            text=clause.text if clause else "(this version has no such clause)",
            source=clause.source if clause else "",
            issues=clause.issues if clause else (),
            outcome=result.outcome,
            reason=(result.reason or "").partition("\n")[0],
            failure=result.failure,
            tests=tuple(result.tests),
            duration_s=result.duration_s,
        )


def _ids_text(ids: Sequence[str]) -> str:
    """Return *ids* in one line; many by family, so that a summary stays small."""
    return ", ".join(ids) if len(ids) <= MOST_WHOLE_IDS else "; ".join(by_family(ids))


def _counts(entries: Iterable[Entry]) -> list[tuple[str, list[int]]]:
    """Return the number of clauses with each outcome, by area and in total."""
    counted: dict[str, Counter[str]] = {}
    for one in entries:
        counted.setdefault(one.area, Counter())[one.outcome] += 1
    rows = [*sorted(counted.items()), ("all", sum(counted.values(), Counter()))]
    return [(name, [count[one.value] for one in Outcome]) for name, count in rows]


def _reasons(entries: Iterable[Entry]) -> list[tuple[str, str, int]]:
    """Return the reasons for clauses without a verdict: outcome, reason, number.

    Requests that the target lacks have a list of their own.
    """
    without_verdict = ("blocked", "unsupported", "not-applicable")
    counted = Counter(
        (one.outcome, one.reason)
        for one in entries
        if one.outcome in without_verdict and not requests_in(one.reason)
    )
    return [(*why, count) for why, count in counted.most_common()]
