"""
Matrix of several runs: a row for each clause, a column for each target.

It shows where targets differ. A clause that a report lacks has an empty cell, which is
not a pass. With several runs on one target, the last one has the column. A cell also
shows the earlier outcome, and the target's trend is shown apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.rendering import SYMBOLS, render_template
from conformance.harness.report.pages.run_page import PAGE_OF_RUN
from conformance.harness.report.pages.trends import Trend, trend_of
from conformance.harness.report.report import FILE_NAME, read_report
from conformance.harness.report.report_json import ClauseEntry, Report
from spec.registry import all_clauses

FORMATS = {".html": "matrix.html", ".md": "matrix.md"}
"""Template by the suffix of the file that is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedReport:
    """A report and the link to its page."""

    report: Report
    page: str = ""
    """Path relative to the matrix; empty without a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One target."""

    name: str
    release: str
    totals: Mapping[str, int]
    page: str = ""
    """Link to the page of its run, relative to the matrix; empty if unknown."""
    error: str = ""
    """Why the target did not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Outcome of a clause on a target; empty if the report lacks it."""

    outcome: str = ""
    failure: str = ""
    """Text of the failure."""
    reason: str = ""
    """Why it is known, unsupported or not applicable."""
    before: str = ""
    """The symbols of earlier runs, the oldest first, where one was otherwise."""

    @property
    def symbol(self) -> str:
        """The outcome as one character."""
        return SYMBOLS[self.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One clause on all targets."""

    clause_id: str
    level: str
    text: str
    source: str
    cells: tuple[Cell, ...]

    @property
    def area(self) -> str:
        """The first word of the clause's id."""
        return self.clause_id.partition("-")[0]

    @property
    def differs(self) -> bool:
        """Whether a target fails what another one meets."""
        settled = {cell.outcome for cell in self.cells} & {"pass", "fail", "known"}
        return "pass" in settled and len(settled) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All clauses that a report names, on all targets."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trends: tuple[Trend, ...] = ()
    """Trends of targets with more than one run."""


def matrix_of(reports: Sequence[LinkedReport]) -> Matrix:
    """Return the matrix of *reports*, their order kept, the clauses in that of ids."""
    targets = _group_by_target(reports)
    results = [
        [{one.id: one for one in run.report.results} for run in runs]
        for runs in targets
    ]
    names = sorted({name for runs in results for name in runs[-1]})
    return Matrix(
        columns=tuple(_column(runs[-1]) for runs in targets),
        rows=tuple(
            _row(name, [[run.get(name) for run in runs] for runs in results])
            for name in names
        ),
        trends=tuple(
            trend_of([run.report for run in runs]) for runs in targets if len(runs) > 1
        ),
    )


def read_linked(files: Iterable[Path], out: Path) -> list[LinkedReport]:
    """Return the reports in *files*, each with the way from *out* to its page."""
    return [LinkedReport(report=read_report(one), page=_way(out, one)) for one in files]


def _group_by_target(reports: Iterable[LinkedReport]) -> list[list[LinkedReport]]:
    """Return the reports of each target and release, the oldest first.

    Reports without a time keep their order.
    """
    found: dict[tuple[str, str], list[LinkedReport]] = {}
    for one in reports:
        target = one.report.target
        found.setdefault((target.text, target.release), []).append(one)
    return [sorted(runs, key=lambda one: one.report.at) for runs in found.values()]


def _way(out: Path, file: Path) -> str:
    """Return the way from *out* to the page beside a report; empty if none is there."""
    page = file.with_name(PAGE_OF_RUN).resolve()
    if file.name != FILE_NAME or not page.exists():
        return ""
    return quote(Path(os.path.relpath(page, out.resolve().parent)).as_posix())


def render(matrix: Matrix, suffix: str) -> str:
    """Return *matrix* as a page that needs nothing beside itself, by file suffix."""
    outcomes = [one.value for one in Outcome]
    return render_template(FORMATS[suffix], matrix=matrix, outcomes=outcomes)


def _column(linked: LinkedReport) -> Column:
    report = linked.report
    name = report.target.text or "(no target)"
    if report.interrupted:
        name += f" ({report.interrupted})"
    return Column(
        name=name,
        release=report.target.release,
        totals=report.totals,
        page=linked.page,
        error=report.target.error or "",
    )


def _row(clause_id: str, results: Sequence[Sequence[ClauseEntry | None]]) -> Row:
    clause = all_clauses().get(clause_id)
    return Row(
        clause_id=clause_id,
        level=clause.level.value if clause else "",
        text=clause.text if clause else "(this version has no such clause)",
        source=clause.source if clause else "",
        cells=tuple(_cell(runs) for runs in results),
    )


def _cell(runs: Sequence[ClauseEntry | None]) -> Cell:
    """Return the cell of a clause on a target, of which there are *runs*."""
    result, outcomes = runs[-1], [run.outcome if run else "" for run in runs]
    before = "".join(SYMBOLS[one] or "·" for one in outcomes[:-1])
    if len(set(outcomes)) == 1:
        before = ""
    if result is None:
        return Cell(before=before)
    return Cell(
        outcome=result.outcome,
        failure=result.failure.text if result.failure else "",
        reason=result.reason or "",
        before=before,
    )
