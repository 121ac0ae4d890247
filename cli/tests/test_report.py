"""What ``rmqc report matrix`` makes of planted reports."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.report import report as command
from cli.tests.reports import report, written

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
    """Return what the command did with *arguments*; an exception fails the test."""
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


def test_a_markdown_matrix_has_a_row_a_clause_and_a_column_a_target(
    tmp_path: Path, files: list[str]
) -> None:
    out = tmp_path / "matrix.md"
    result = run("matrix", *files, "-o", str(out))
    assert result.exit_code == 0
    assert "3 clauses on 2 targets, 1 of them not met by all" in result.output
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "| clause | level | embedded: | localhost:9876 | sentence |" in lines
    rows = [line for line in lines if line.startswith(("| WIRE", "| STORE"))]
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| STORE-CRC-001", "MUST", "", "?"],
        ["| WIRE-FRAME-001", "MUST", "✓", ""],
        ["| WIRE-FRAME-002", "MUST", "✓", "✗"],
    ]
    assert "| localhost:9876 | 4.9.7 | 0 | 1 | 0 | 0 | 1 | 0 |" in lines


def test_an_html_matrix_needs_nothing_beside_itself(
    tmp_path: Path, files: list[str]
) -> None:
    out = tmp_path / "matrix.html"
    assert run("matrix", *files, "-o", str(out)).exit_code == 0
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == ["data:,"]
    row = next(cells for cells in page.rows if cells and cells[0] == "WIRE-FRAME-002")
    assert [cell.strip() for cell in row[2:4]] == ["✓ pass", "✗ fail<it> is not met."]
    assert "&lt;it&gt; is not met." in text  # what a peer said is never markup
    assert 'class="differs" data-room="WIRE"' in text


@pytest.mark.parametrize("name", ["matrix.pdf", "no/such/directory/matrix.md"])
def test_what_cannot_be_written_is_usage(
    tmp_path: Path, files: list[str], name: str
) -> None:
    result = run("matrix", *files, "-o", str(tmp_path / name))
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_what_is_no_report_is_usage(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("[]", encoding="utf-8")
    result = run("matrix", str(file), "-o", str(tmp_path / "matrix.md"))
    assert result.exit_code == 2
    assert "no report" in result.output
