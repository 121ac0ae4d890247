"""Several targets in one directory: links to each run, and trends of repeated ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs.suites.side_by_side import (
    FORMER,
    KEPT,
    folder_of,
    keep_former,
    write_matrix,
)
from cli.tests.pages.reports import report
from conformance.harness.report.report import FILE_NAME, write_report

BEGUN = datetime(2026, 11, 21, 20, tzinfo=UTC)
TARGETS = {"embedded:": "4.6.0", "jvm:4.6.0": "4.6.0", "jvm:5.3.3": "5.3.3"}


def ran(folder: Path, target: str, outcome: str, *, hours: int = 0) -> None:
    """Leave the reports of a run on *target* in *folder*, as the suites do."""
    keep_former(folder)
    release = TARGETS[target]
    at = (BEGUN + timedelta(hours=hours)).isoformat(timespec="seconds")
    made = report({"WIRE-FRAME-001": outcome}, target=target, release=release, at=at)
    write_report(folder, made)


@pytest.mark.parametrize("target", TARGETS)
def test_a_column_and_its_cells_lead_to_the_page_of_the_run(
    tmp_path: Path, target: str
) -> None:
    folders = [folder_of(tmp_path, name) for name in TARGETS]
    for folder, name in zip(folders, TARGETS, strict=True):
        ran(folder, name, "fail" if name == "jvm:5.3.3" else "pass")
    assert "3 targets side by side" in write_matrix(tmp_path, folders)
    text = (tmp_path / "matrix.html").read_text(encoding="utf-8")
    page = f"{folder_of(tmp_path, target).name}/report.html"
    assert (tmp_path / page).exists()
    assert f'<a href="{page}"><code>{target}</code></a>' in text
    assert f'href="{page}#WIRE-FRAME-001"' in text


def test_a_run_that_is_repeated_is_a_trend(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "embedded:")
    for hour, outcome in enumerate(("pass", "pass", "fail")):
        ran(folder, "embedded:", outcome, hours=hour)
    assert "1 targets side by side" in write_matrix(tmp_path, [folder, folder])
    text = (tmp_path / "matrix.html").read_text(encoding="utf-8")
    assert text.count("<rect ") == 3
    assert "no longer met: WIRE-FRAME-001" in text
    assert "✓✓" in text


def test_so_many_earlier_reports_are_kept(tmp_path: Path) -> None:
    for hour in range(KEPT + 3):
        ran(tmp_path, "embedded:", "pass", hours=hour)
    kept = sorted((tmp_path / FORMER).glob("*.json"))
    assert len(kept) == KEPT
    assert kept[-1].name == f"{BEGUN + timedelta(hours=KEPT + 1):%Y%m%dT%H%M%S}.json"


def test_what_is_no_report_stays_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    file.write_text("{}", encoding="utf-8")
    keep_former(tmp_path)
    assert file.read_text(encoding="utf-8") == "{}"
    assert not (tmp_path / FORMER).exists()


def test_without_a_report_there_is_no_matrix(tmp_path: Path) -> None:
    assert "no target has a report" in write_matrix(tmp_path, [tmp_path / "x"])
    assert not (tmp_path / "matrix.html").exists()
