"""``rmqc evidence`` with planted reports: records, comparisons, usage errors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites import evidence as evidence_command
from cli.runs.suites import release_runs
from cli.runs.suites.clause_tests import clause_tests
from cli.runs.suites.release_runs import RunError, Runs
from cli.tests.pages.reports import report, written
from conformance.harness.report.evidence import range_record
from conformance.harness.report.evidence.range_record import read_ranges
from conformance.harness.report.report_json import Report
from spec.observed import Observed, decode_observed

TESTED = {"WIRE-FRAME-001", "WIRE-FRAME-002", "INDEX-KEY-005"}
"""Clauses that the suites are taken to test; the last is about 5.4 and later."""
PASSED = {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "pass"}
RELEASE = {"target": "jvm:4.6.0", "release": "4.6.0"}


def observed(outcomes: Mapping[str, str]) -> dict[str, Observed]:
    """Return evidence of 4.6.0 alone."""
    one = Observed(
        release="4.6.0",
        target="jvm:4.6.0",
        recorded="2026-01-31",
        java="21.0.1",
        suite_version="0.1.0",
        outcomes=outcomes,
    )
    return {"4.6.0": one}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the evidence of these tests."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    monkeypatch.setattr(evidence_command, "FOLDER", folder)
    monkeypatch.setattr(evidence_command, "tested_clauses", lambda: TESTED)
    monkeypatch.setattr(evidence_command, "java_in_use", lambda: "21.0.1")
    monkeypatch.setattr(evidence_command, "all_evidence", lambda: observed(PASSED))
    return folder


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(
        evidence_command.evidence, list(arguments), catch_exceptions=False
    )


def test_a_report_becomes_evidence(tmp_path: Path, folder: Path) -> None:
    result = run("record", written(tmp_path, report(PASSED, **RELEASE)))
    assert result.exit_code == 0, result.output
    assert "2 pass, 0 fail" in result.output
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.outcomes == {**PASSED, "INDEX-KEY-005": "not-applicable"}
    assert (made.java, made.target) == ("21.0.1", "jvm:4.6.0")


def test_a_release_that_fails_a_clause_is_recorded_and_named(
    tmp_path: Path, folder: Path
) -> None:
    failed = {**PASSED, "WIRE-FRAME-002": "fail"}
    result = run("record", written(tmp_path, report(failed, **RELEASE)))
    assert result.exit_code == 1
    assert "4.6.0 fail WIRE-FRAME-002  The low 24 bits" in result.output
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.reasons == {"WIRE-FRAME-002": "found 1"}


@pytest.mark.parametrize(
    ("outcomes", "target", "reason"),
    [
        (PASSED, "127.0.0.1:9876", "no release of Apache RocketMQ as it comes"),
        (PASSED, "jvm:4.6.0?maxIndexNum=8", "no release of Apache RocketMQ as it"),
        (PASSED, "embedded:", "no release of Apache RocketMQ as it comes"),
        ({"WIRE-FRAME-001": "pass"}, "jvm:4.6.0", "not of a whole run"),
    ],
)
def test_what_is_no_whole_run_on_a_release_is_no_evidence(
    tmp_path: Path, folder: Path, outcomes: dict[str, str], target: str, reason: str
) -> None:
    made = report(outcomes, target=target, release="4.6.0")
    result = run("record", written(tmp_path, made))
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
    assert not list(folder.iterdir())


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text('{"schema": 1}', encoding="utf-8")
    result = run("check", str(file))
    assert result.exit_code == 2
    assert "not a report" in result.output


def test_a_run_like_the_recorded_one_is_as_recorded(tmp_path: Path) -> None:
    result = run("check", written(tmp_path, report(PASSED, **RELEASE)))
    assert result.exit_code == 0
    assert "2 outcomes as recorded, 0 otherwise, 0 without a verdict" in result.output


def test_a_clause_that_fails_now_is_named(tmp_path: Path) -> None:
    failed = {**PASSED, "WIRE-FRAME-002": "fail"}
    result = run("check", written(tmp_path, report(failed, **RELEASE)))
    assert result.exit_code == 1
    assert "differs WIRE-FRAME-002  here fail, recorded pass: The low" in result.output


def test_a_clause_that_passes_now_differs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = observed({**PASSED, "WIRE-FRAME-001": "fail"})
    monkeypatch.setattr(evidence_command, "all_evidence", lambda: failed)
    result = run("check", written(tmp_path, report(PASSED, **RELEASE)))
    assert result.exit_code == 1
    assert "differs WIRE-FRAME-001  here pass, recorded fail" in result.output


@pytest.mark.parametrize(("target", "code"), [("jvm:4.6.0", 1), ("localhost:9876", 0)])
def test_only_the_release_itself_must_judge_all_that_was_judged(
    tmp_path: Path, target: str, code: int
) -> None:
    lost = {**PASSED, "WIRE-FRAME-002": "unsupported"}
    made = report(lost, target=target, release="4.6.0")
    result = run("check", written(tmp_path, made))
    assert result.exit_code == code
    assert "0 otherwise, 1 without a verdict here" in result.output


def test_a_clause_younger_than_the_evidence_is_counted(tmp_path: Path) -> None:
    younger = {**PASSED, "STORE-CRC-001": "pass"}
    result = run("check", written(tmp_path, report(younger, **RELEASE)))
    assert result.exit_code == 0
    assert "1 not recorded" in result.output


def test_a_release_without_evidence_is_usage(tmp_path: Path) -> None:
    made = report(PASSED, target="jvm:4.5.2", release="4.5.2")
    result = run("check", written(tmp_path, made))
    assert result.exit_code == 2
    assert "no evidence is recorded for '4.5.2'" in result.output


def test_reports_and_releases_exclude_each_other(tmp_path: Path) -> None:
    file = written(tmp_path, report(PASSED, **RELEASE))
    assert run("check", file, "--release", "4.6.0").exit_code == 2


def test_only_what_is_not_yet_seen_is_run_and_added(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = observed({"WIRE-FRAME-001": "pass", "WIRE-GONE-001": "pass"})
    monkeypatch.setattr(evidence_command, "all_evidence", lambda: gone)
    selections: list[list[str]] = []

    def ran(runs: Runs, release: str, _directory: Path) -> Report:
        selections.append(list(runs.words(release)))
        # The test of the young clause names the old one too, and did not get so far.
        partial = {"WIRE-FRAME-001": "unsupported", "WIRE-FRAME-002": "pass"}
        return report(partial, **RELEASE)

    monkeypatch.setattr(Runs, "_run", ran)
    assert run("record", "--younger", "--release", "4.6.0").exit_code == 0
    assert selections == [["--only-clauses=WIRE-FRAME-002"]]
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.outcomes == {**PASSED, "INDEX-KEY-005": "not-applicable"}
    assert not made.reasons


def test_a_pass_does_not_hide_a_failure_of_today(tmp_path: Path, folder: Path) -> None:
    failed = report({"WIRE-FRAME-001": "fail"}, **RELEASE)
    assert run("record", "--younger", written(tmp_path, failed)).exit_code == 1
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.outcomes["WIRE-FRAME-001"] == "fail"
    assert made.outcomes["WIRE-FRAME-002"] == "pass"


def test_an_error_of_the_harness_takes_nothing_away(
    tmp_path: Path, folder: Path
) -> None:
    errors = report(dict.fromkeys(PASSED, "error"), **RELEASE)
    assert run("record", "--younger", written(tmp_path, errors)).exit_code == 0
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.outcomes == {**PASSED, "INDEX-KEY-005": "not-applicable"}
    assert not made.reasons


def test_a_part_takes_nothing_away(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = observed({"WIRE-FRAME-001": "unsupported"})
    reasons = {"WIRE-FRAME-001": "no such thing here"}
    known = {"4.6.0": replace(older["4.6.0"], reasons=reasons)}
    monkeypatch.setattr(evidence_command, "all_evidence", lambda: known)
    part = report({"WIRE-FRAME-002": "pass"}, **RELEASE)
    assert run("record", "--younger", written(tmp_path, part)).exit_code == 0
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert made.outcomes["WIRE-FRAME-001"] == "unsupported"
    assert made.reasons == reasons


def test_a_clause_of_a_parameter_that_has_a_name_is_tested(tmp_path: Path) -> None:
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance/test_some.py").write_text(
        'CASES = [pytest.param(1, marks=pytest.mark.clause("A-B-001"))]\n'
        '@pytest.mark.parametrize("n", CASES)\n'
        "def test_it(n): ...\n",
        encoding="utf-8",
    )
    tests = clause_tests(tmp_path)
    assert tests == {"A-B-001": ["conformance/test_some.py::test_it"]}


def test_reports_of_parts_are_put_together(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_command, "all_evidence", lambda: observed({}))
    files = []
    for clause in PASSED:
        (tmp_path / clause).mkdir()
        part = report({clause: "pass"}, **RELEASE)
        files.append(written(tmp_path / clause, part))
    assert run("record", "--younger", *files).exit_code == 0
    made = decode_observed((folder / "4.6.0.json").read_text(encoding="utf-8"))
    assert {name for name, one in made.outcomes.items() if one == "pass"} == set(PASSED)


def test_nothing_is_run_where_all_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runs, "_run", lambda *_: pytest.fail("it ran"))
    assert run("record", "--younger", "--release", "4.6.0").exit_code == 0


def test_clauses_that_are_met_beyond_their_range_are_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(range_record, "FILE", tmp_path / "ranges.json")
    # One is about 5.4 and later, one about 4.9 and earlier, and one about all.
    found = {
        "INDEX-KEY-005": "fail",
        "WIRE-COMMAND-007": "pass",
        "WIRE-FRAME-001": "not-applicable",
    }
    made = report(found, target="jvm:5.3.3", release="5.3.3")
    monkeypatch.setattr(Runs, "_run", lambda *_: made)
    result = run("ranges", "--release", "5.3.3")
    assert result.exit_code == 0
    assert "of 2 clauses about other releases it does not meet 1" in result.output
    assert "  WIRE-COMMAND-007 (4.4 to 4.9) Up to 4.9, a missing" in result.output
    kept = {"fail": ["INDEX-KEY-005"], "pass": ["WIRE-COMMAND-007"]}
    assert read_ranges(tmp_path / "ranges.json") == {"5.3.3": kept}


def test_a_release_that_does_not_run_is_the_harness_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RunError("the suites did not run on 4.6.0: no jars")

    monkeypatch.setattr(Runs, "_run", fail)
    result = run("check", "--release", "4.6.0")
    assert result.exit_code == 3
    assert "no jars" in result.output


def test_a_run_that_did_not_start_is_explained_by_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "Error: no broker within 90 s; its log ends:\n    a line of the log"
    command = [sys.executable, "-c", f"print({output!r})"]
    monkeypatch.setattr(release_runs, "module_command", lambda *_: command)
    words = ["--release", "4.6.0", "--release", "5.3.3", "--logs", str(tmp_path)]
    result = run("record", *words)
    assert result.exit_code == 3
    assert result.output == (
        "Error: the suites did not run on 4.6.0: no broker within 90 s; its log ends;"
        " not run yet: 5.3.3\n"
    )


def test_the_recorded_releases_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_command, "tested_clauses", lambda: {"WIRE-FRAME-003"})
    result = run("list")
    assert result.output == (
        "4.6.0  2026-01-31  Java 21.0.1  2 pass, 0 fail, 0 error, 0 known,"
        " 0 unsupported, 0 not-applicable; 1 younger\n"
    )
