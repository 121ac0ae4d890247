"""``rmqc report pages`` writes each page from its record; no link is broken."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cli.commands.suites.report import DOCS, report
from cli.pages import profiles_page
from cli.pages.recorded_pages import recorded_pages
from spec.clause import Level
from spec.registry import all_clauses

HEADINGS = {
    "admin.md": "# Administration",
    "clients.md": "# ",
    "handover.md": "# ",
    "headers.md": "# ",
    "implementations.md": "# Implementations",
    "interop.md": "# Real clients",
    "mutants.md": "# The kill matrix",
    "profiles.md": "# Profiles",
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


def test_the_page_of_profiles_has_each_level_and_each_change() -> None:
    text = profiles_page.page()
    for profile in profiles_page.PROFILES:
        found = Counter(one.level for one in profiles_page.clauses_of(profile))
        counts = " | ".join(str(found[level]) for level in Level)
        assert f"| {counts} | {found.total()} |" in text
    for name in ("POP-GET-001", "ADMIN-GROUP-004", "DELAY-ENGINE-001"):
        assert f"- **{name}** (MUST): {all_clauses()[name].text}" in text
    assert "SWITCH_TIMER_ENGINE (5001)" in text
