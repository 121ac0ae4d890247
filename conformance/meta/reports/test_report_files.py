"""The directory of a report: prepared before the run, and not writable at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.report.report import write_whole
from conformance.meta.made_suite import FAILS, PASSES, run_faulty

LOSES_THE_DIRECTORY = """
import shutil

@pytest.mark.clause("WIRE-FRAME-003")
def test_loses_the_directory(broker):
    shutil.rmtree({directory!r})
    open({directory!r}, "w").close()
"""


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_report_that_cannot_be_written_leaves_the_summary(
    tmp_path: Path, workers: list[str]
) -> None:
    directory = tmp_path / "report"
    tests = LOSES_THE_DIRECTORY.format(directory=str(directory)) + FAILS
    junit = f"--junitxml={directory / 'junit.xml'}"
    words = [f"--report={directory}", junit, "--by-cause", *workers]
    ended = run_faulty(tmp_path, tests, *words)
    assert ended.code == 3
    assert "WIRE-FRAME-002 (MUST) is not met." in ended.output
    assert "capture   not written: Not a directory" in ended.output
    assert "1 failed, 1 passed" in ended.output
    printed = " ".join(ended.output.split())  # a line ends at the terminal's width
    assert f"not written: {directory}: File exists" in printed
    assert "Traceback" not in ended.output


def test_a_directory_that_cannot_be_made_is_usage(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    ended = run_faulty(tmp_path, PASSES, f"--report={file / 'report'}")
    lines = [line for line in ended.output.splitlines() if line]
    assert lines == [f"ERROR: --report {file / 'report'}: Not a directory"]


def test_a_run_into_a_used_directory_removes_its_report(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    report = tmp_path / "report"
    (report / "captures").mkdir(parents=True)
    kept = [report / "captures" / "notes.txt", report / "mine.json"]
    for file in kept:
        file.touch()
    run_faulty(tmp_path / "first", FAILS, f"--report={report}")
    assert len(list((report / "captures").glob("*.pcapng"))) == 1
    run_faulty(tmp_path / "second", PASSES, f"--report={report}")
    assert list((report / "captures").iterdir()) == kept[:1]
    assert kept[1].exists()


def test_a_list_of_tests_keeps_the_report(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.touch()
    ended = run_faulty(tmp_path, PASSES, f"--report={tmp_path}", "--collect-only")
    assert "1 test collected" in ended.output
    assert file.exists()


def test_a_file_is_whole_or_missing(tmp_path: Path) -> None:
    file = tmp_path / "page"
    file.mkdir()
    with pytest.raises(OSError, match=str(file)):
        write_whole(file, "text")
    written = tmp_path / "text"
    write_whole(written, "é")
    assert written.read_text(encoding="utf-8") == "é"
