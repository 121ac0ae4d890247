"""
Trends: several runs on one target, oldest first, and the changes of the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.harness.report.report_json import Report

MET = ("pass",)
UNMET = ("fail", "known", "error")
BAR_HEIGHT = 24
"""Height of the drawing of a trend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a trend."""

    at: str
    suite_version: str
    totals: Mapping[str, int]

    @property
    def share(self) -> float:
        """Share of met clauses among those with a verdict."""
        decided = sum(self.totals.get(name, 0) for name in (*MET, *UNMET))
        return self.totals.get("pass", 0) / decided if decided else 0.0

    @property
    def bar(self) -> int:
        """Height of the run in a drawing: at least a visible line."""
        return max(1, round(self.share * BAR_HEIGHT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """All runs on one target."""

    name: str
    release: str
    runs: tuple[Run, ...]
    mended: tuple[str, ...]
    """Clauses that the last run meets and the one before did not."""
    broken: tuple[str, ...]
    """Clauses that it was otherwise with."""


def trend_of(runs: Sequence[Report]) -> Trend:
    """Return the trend of *runs*, all on one target."""
    target = runs[-1].target
    before, after = (
        {one.id: one.outcome for one in report.results}
        for report in (runs[-2:] if len(runs) > 1 else [runs[0], runs[0]])
    )
    both = sorted(before.keys() & after.keys())
    return Trend(
        name=target.text or "(no target)",
        release=target.release,
        runs=tuple(map(_run, runs)),
        mended=tuple(n for n in both if before[n] in UNMET and after[n] in MET),
        broken=tuple(n for n in both if before[n] in MET and after[n] in UNMET),
    )


def _run(report: Report) -> Run:
    return Run(
        at=report.at,
        suite_version=report.suite_version,
        totals=report.totals,
    )
