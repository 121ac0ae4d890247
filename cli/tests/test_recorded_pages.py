"""``rmqc report pages`` writes each page from its record; no link is broken."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cli.commands.report import DOCS, report
from cli.pages.recorded_pages import recorded_pages

HEADINGS = {
    "admin.md": "# Administration",
    "clients.md": "# ",
    "handover.md": "# ",
    "headers.md": "# ",
    "implementations.md": "# Implementations",
    "interop.md": "# Real clients",
    "mutants.md": "# The kill matrix",
}
CHARTS = ("send", "pull", "start", "recovery", "audit")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return all pages by file name."""
    return dict(recorded_pages())


def test_the_command_writes_all_pages(tmp_path: Path, pages: dict[str, str]) -> None:
    result = CliRunner().invoke(report, ["pages", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    written = {
        str(file.relative_to(tmp_path)): file.read_text("utf-8") for file in files
    }
    assert written == pages
    assert result.output.split() == [str(tmp_path / name) for name in pages]


def test_every_record_has_its_page(pages: dict[str, str]) -> None:
    for name, heading in HEADINGS.items():
        assert pages[name].startswith(heading), name
    for name in CHARTS:
        chart = ElementTree.fromstring(pages[f"performance/{name}.svg"])  # noqa: S314 - ours
        assert chart.findall("{http://www.w3.org/2000/svg}rect")


@pytest.mark.parametrize("name", HEADINGS)
def test_links_lead_to_files(pages: dict[str, str], name: str) -> None:
    for link in LINK.findall(pages[name]):
        assert link in pages or (DOCS / link).exists(), link
