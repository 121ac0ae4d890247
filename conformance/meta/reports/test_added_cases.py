"""JUnit's file and pytest's last line have the failures that are not of a test."""

from __future__ import annotations

from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET  # the file is our own

import pytest

from conformance.harness.baseline.steps import STEPS
from conformance.harness.child_run.child_run import ChildRun
from conformance.harness.report.report import read_report
from conformance.meta.made_suite import (
    AS_4_6,
    PASSES,
    known_file,
    run_faulty,
    run_made,
)
from spec.registry import all_clauses

WRONG_ROUTE = "mutant:read_and_write_counts_swapped"
ROUTE = "the route of a topic"
APPLICABLE = [one for one in STEPS if all_clauses()[one.clause].applies_to("4.6.0")]
"""Steps of the baseline of the targets below."""
Case = tuple[str, str]
"""Class and name of a case."""


def run(directory: Path, target: str, *options: str) -> ChildRun:
    """Run one test that passes, after the baseline."""
    words = ["--by-cause", f"--junitxml={directory / 'junit.xml'}", *options]
    return run_made(directory, target, PASSES, AS_4_6, *words, has_baseline=True)


def cases(directory: Path) -> dict[Case, str]:
    """Return the cases of JUnit's file, each with its outcome."""
    root = ET.parse(directory / "junit.xml").getroot()  # noqa: S314
    return {
        (one.attrib["classname"], one.attrib["name"]): next(
            (child.tag for child in one), "passed"
        )
        for one in root.iter("testcase")
    }


def test_a_failed_step_of_the_baseline_is_a_failed_case(tmp_path: Path) -> None:
    ended = run(tmp_path, WRONG_ROUTE)
    assert ended.code == 1
    found = cases(tmp_path)
    assert found["baseline", ROUTE] == "failure"
    assert found["baseline", "the send of a message"] == "passed"
    assert len([kind for kind, _ in found if kind == "baseline"]) == len(APPLICABLE)
    assert "1 failed, 1 passed" in ended.output


def test_a_known_failure_of_the_baseline_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    run(tmp_path, WRONG_ROUTE, f"--write-known={file}")
    ended = run(tmp_path, WRONG_ROUTE, f"--known={file}")
    assert ended.code == 0
    assert cases(tmp_path)["baseline", ROUTE] == "skipped"


@pytest.mark.parametrize("has_step", [True, False])
def test_an_entry_of_the_baseline_is_stale_when_its_step_passes(
    tmp_path: Path, *, has_step: bool
) -> None:
    file = tmp_path / "known.toml"
    run(tmp_path, WRONG_ROUTE, f"--write-known={file}")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert f'step = "{ROUTE}"' in lines
    kept = [line for line in lines if has_step or not line.startswith("step")]
    text = "\n".join(kept).replace(WRONG_ROUTE, "embedded:")
    file.write_text(text, encoding="utf-8")
    ended = run(tmp_path, "embedded:", f"--known={file}")
    # Without the step, the entry is about a test that is not in this run.
    assert ended.code == (1 if has_step else 0)
    stale = ("stale known failures", "ROUTE-DATA-001")
    assert cases(tmp_path).get(stale) == ("failure" if has_step else None)


def test_all_files_of_a_report_have_the_violations_about_the_target(
    tmp_path: Path,
) -> None:
    junit = f"--junitxml={tmp_path / 'junit.xml'}"
    words = [f"--report={tmp_path}", junit]
    violations = read_violations(tmp_path, words)
    assert violations
    for name in ("report.html", "summary.md", "junit.xml"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "not honest" in text.lower(), name
        assert all(escape(one) in text for one in violations), name


def read_violations(directory: Path, words: list[str]) -> list[str]:
    """Return the violations in the report on a target that accepts everything."""
    run_faulty(directory, PASSES, *words)
    return list(read_report(directory / "report.json").target.violations)


def test_a_stale_entry_is_a_failed_case(tmp_path: Path) -> None:
    known = known_file(tmp_path, "WIRE-FRAME-001").partition("=")[2]
    text = Path(known).read_text(encoding="utf-8").replace("127.*", "*")
    Path(known).write_text(text, encoding="utf-8")
    ended = run(tmp_path, "embedded:", f"--known={known}")
    assert ended.code == 1
    assert cases(tmp_path)["stale known failures", "WIRE-FRAME-001"] == "failure"
    assert "1 failed, 1 passed" in ended.output
