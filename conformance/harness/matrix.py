"""
The matrix: the reports of several runs side by side, a row a clause, a column a target.

It says where targets differ. A clause of which a report says nothing has an empty cell;
that is not a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.harness.outcome import Outcome
from spec.registry import all_clauses

FORMATS = {".html": "matrix.html", ".md": "matrix.md"}
"""Template by the suffix of the file that is written."""

SYMBOLS = {
    Outcome.PASS.value: "✓",
    Outcome.FAIL.value: "✗",
    Outcome.ERROR.value: "!",
    Outcome.KNOWN.value: "k",
    Outcome.UNSUPPORTED.value: "?",
    Outcome.NOT_APPLICABLE.value: "–",
    "": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One target."""

    name: str
    release: str
    totals: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What became of a clause on a target; an empty outcome: nothing is said."""

    outcome: str = ""
    why: str = ""
    """The failure's text, or the reason of what is no pass."""

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
    def room(self) -> str:
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


def matrix_of(reports: Sequence[Mapping[str, Any]]) -> Matrix:
    """Return the matrix of *reports*, their order kept, the clauses in that of ids."""
    told = [{one["id"]: one for one in report["results"]} for report in reports]
    names = sorted({name for results in told for name in results})
    return Matrix(
        columns=tuple(_column(report) for report in reports),
        rows=tuple(
            _row(name, [results.get(name) for results in told]) for name in names
        ),
    )


def render(matrix: Matrix, suffix: str) -> str:
    """Return *matrix* as a page that needs nothing beside itself, by file suffix."""
    environment = Environment(
        loader=PackageLoader("conformance.harness"),
        autoescape=suffix == ".html",  # noqa: S701 - Markdown has no markup to escape
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = _markdown_cell
    page = environment.get_template(FORMATS[suffix])
    return page.render(matrix=matrix, outcomes=[one.value for one in Outcome])


def _column(report: Mapping[str, Any]) -> Column:
    target = report["target"]
    return Column(
        name=target["text"] or "(no target)",
        release=target["release"],
        totals=report["totals"],
    )


def _row(clause_id: str, results: Sequence[Mapping[str, Any] | None]) -> Row:
    clause = all_clauses().get(clause_id)
    return Row(
        clause_id=clause_id,
        level=clause.level.value if clause else "",
        text=clause.text if clause else "(this version has no such clause)",
        source=clause.source if clause else "",
        cells=tuple(_cell(result) for result in results),
    )


def _cell(result: Mapping[str, Any] | None) -> Cell:
    if result is None:
        return Cell()
    failure = result["failure"]
    why = failure["text"] if failure else result.get("reason") or ""
    return Cell(outcome=result["outcome"], why=why)


def _markdown_cell(text: str) -> str:
    """Return *text* so that it stays within one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
