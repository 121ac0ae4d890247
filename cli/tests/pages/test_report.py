"""``rmqc report`` with planted reports."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.report import report as command
from cli.tests.pages.reports import report, written
from conformance.harness.report.pages.badge import GREEN, GREY, RED, YELLOW, verdict_of
from conformance.harness.report.report_json import encode_report

ONE = {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "pass"}
OTHER = {"WIRE-FRAME-002": "fail", "STORE-CRC-001": "unsupported"}


class Page(HTMLParser):
    """The rows of the second table, as texts, and what the page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row or a cell; note what refers to elsewhere."""
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        """Add text to the cell."""
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return two reports: of the reference, and of a peer with a fault."""
    one = report(ONE, target="embedded:", release="4.6.0")
    other = report(OTHER, target="localhost:9876", release="4.9.7")
    return [written(tmp_path, one, "a.json"), written(tmp_path, other, "b.json")]


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


def test_a_markdown_matrix_has_a_row_a_clause_and_a_column_a_target(
    tmp_path: Path, files: list[str]
) -> None:
    out = tmp_path / "matrix.md"
    result = run("matrix", *files, "-o", str(out))
    assert result.exit_code == 0
    assert (
        "3 clauses on 2 targets, 1 with a pass on one and a failure on another"
        in result.output
    )
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "| clause | level | embedded: | localhost:9876 | sentence |" in lines
    rows = [line for line in lines if line.startswith(("| WIRE", "| STORE"))]
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| STORE-CRC-001", "MUST", "", "?"],
        ["| WIRE-FRAME-001", "MUST", "✓", ""],
        ["| WIRE-FRAME-002", "MUST", "✓", "✗"],
    ]
    assert "| localhost:9876 | 4.9.7 | 0 | 1 | 0 | 0 | 0 | 1 | 0 |" in lines


def test_an_html_matrix_needs_nothing_beside_itself(
    tmp_path: Path, files: list[str]
) -> None:
    out = tmp_path / "matrix.html"
    assert run("matrix", *files, "-o", str(out)).exit_code == 0
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == ["data:,", "#clauses"]
    row = next(cells for cells in page.rows if cells and cells[0] == "WIRE-FRAME-002")
    assert [cell.strip() for cell in row[2:4]] == ["✓ pass", "✗ fail<it> is not met."]
    assert "&lt;it&gt; is not met." in text  # text of a peer is never markup
    assert 'class="differs" data-area="WIRE"' in text
    assert not re.search(r"\broom\b", text)


@pytest.mark.parametrize("name", ["matrix.pdf", "no/such/directory/matrix.md"])
def test_what_cannot_be_written_is_usage(
    tmp_path: Path, files: list[str], name: str
) -> None:
    result = run("matrix", *files, "-o", str(tmp_path / name))
    assert result.exit_code == 2
    assert "Error: " in result.output


@pytest.mark.parametrize("text", ["[]", "", "[broker]"])
def test_what_is_no_report_is_usage(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    result = run("matrix", str(file), "-o", str(tmp_path / "matrix.md"))
    assert result.exit_code == 2
    assert f"Error: {file}: not a report: " in result.output


def runs(directory: Path) -> list[str]:
    """Return two reports on one target, the newer first: one clause is worse in it."""
    old = report(ONE, target="embedded:", release="4.6.0", at="2026-11-20")
    newer = {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "fail"}
    new = report(newer, target="embedded:", release="4.6.0", at="2026-11-21")
    return [written(directory, new, "new.json"), written(directory, old, "old.json")]


@pytest.mark.parametrize("text", ["{", "[1]", "[{}]", "\xff"])
@pytest.mark.parametrize("name", ["handover", "interop", "mutants"])
def test_a_file_that_has_no_cells_is_usage(
    tmp_path: Path, name: str, text: str
) -> None:
    cells = tmp_path / "cells.json"
    cells.write_text(text, encoding="latin-1")
    words = [name, "-o", str(tmp_path / "page.md"), "--cells", str(cells)]
    made = CliRunner().invoke(command, words)
    assert made.exit_code == 2
    assert made.output.startswith(f"Error: {cells}: not a file of cells: ")
    assert made.output.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--take", "reference", "FILE"], "not a report: "),
        (["--only", "CLIENT-SEND-*"], "--only is about --again"),
        (["--again", "reference", "--only", "X-1"], "unknown clause X-1"),
    ],
)
def test_clients_are_not_shown_by_words_without_effect(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    file = tmp_path / "r.json"
    file.write_text("{}")
    out = ["clients", "-o", str(tmp_path / "page.md")]
    made = CliRunner().invoke(
        command, [*out, *(w.replace("FILE", str(file)) for w in words)]
    )
    assert (made.exit_code, (tmp_path / "page.md").exists()) == (2, False)
    assert reason in made.output


def test_several_runs_on_a_target_are_a_trend(tmp_path: Path) -> None:
    out = tmp_path / "matrix.md"
    assert "on 1 target," in run("matrix", *runs(tmp_path), "-o", str(out)).output
    text = out.read_text(encoding="utf-8")
    assert "2 runs · 100.0 % · 50.0 %" in text
    assert "no longer met: WIRE-FRAME-002" in text
    assert "| WIRE-FRAME-002 | MUST | ✓ ✗ |" in text


def test_a_matrix_page_draws_the_trend(tmp_path: Path) -> None:
    out = tmp_path / "matrix.html"
    run("matrix", *runs(tmp_path), "-o", str(out))
    text = out.read_text(encoding="utf-8")
    assert text.count("<rect ") == 2
    assert "2026-11-20: 2 met, 0 not" in text


def test_a_run_has_a_page_a_summary_and_a_badge(
    tmp_path: Path, files: list[str]
) -> None:
    texts = {}
    for name in ("run.html", "run.md", "run.svg"):
        assert run("page", files[1], "-o", str(tmp_path / name)).exit_code == 0
        texts[name] = (tmp_path / name).read_text(encoding="utf-8")
    assert Page(texts["run.html"]).loads == ["data:,", "#clauses", "#WIRE-FRAME-002"]
    headline = "localhost:9876 as 4.9.7: 0 of 1 clauses"
    assert f"<title>{headline}</title>" in texts["run.html"]
    assert f"<h1>{headline}</h1>" in texts["run.html"]
    assert texts["run.md"].startswith("# `localhost:9876` as 4.9.7: 0 of 1 clauses\n")
    assert "&lt;it&gt; is not met." in texts["run.html"]
    assert "| WIRE-FRAME-002 | MUST | 1 | 2 |" in texts["run.md"]
    assert "| unsupported | nobody listens | 1 |" in texts["run.md"]
    badge = ElementTree.fromstring(texts["run.svg"])  # noqa: S314 - our own
    assert badge.get("aria-label") == "RocketMQ 4.9.7: 0 of 1 clauses"


@pytest.mark.parametrize(
    ("outcomes", "words", "colour"),
    [
        ({"WIRE-FRAME-001": "pass"}, "1 of 1 clauses", GREEN),
        ({"WIRE-FRAME-001": "fail"}, "0 of 1 clauses", RED),
        ({"WIRE-FRAME-001": "unsupported"}, "no verdict", GREY),
        ({"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "known"}, "1 of 2", YELLOW),
        ({"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "error"}, "1 of 1", GREY),
    ],
)
def test_a_badge_is_green_only_where_something_passed_and_nothing_else_happened(
    outcomes: dict[str, str], words: str, colour: str
) -> None:
    verdict = verdict_of(report(outcomes, target="embedded:", release="4.6.0"))
    assert verdict.words.startswith(words)
    assert verdict.colour == colour


def test_the_schema_of_a_report_is_printed() -> None:
    printed = json.loads(run("schema").output)
    made = encode_report(report(ONE, target="x", release="4.6.0"))
    jsonschema.validate(json.loads(made), printed)
