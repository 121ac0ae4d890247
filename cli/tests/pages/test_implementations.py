"""``rmqc report implementations``: recorded runs, and the page of them."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

import cli
from cli.pages.implementations_page import page
from cli.tests.pages.reports import report
from conformance.harness.report.report import report_of
from conformance.targets.implementations.record import (
    Implementation,
    implementations,
    keep,
    portable,
)
from spec.observed import all_evidence

OUTCOMES = {
    "WIRE-FRAME-001": "pass",
    "WIRE-FRAME-002": "fail",
    "WIRE-FRAME-003": "unsupported",
    "STORE-CRC-001": "not-applicable",
}


@pytest.fixture
def run() -> Implementation:
    """Return a run on an implementation."""
    made = report(
        OUTCOMES, target="cmd:my.toml", release="4.6.0", at="2026-11-24T10:00"
    )
    return Implementation.of_report("mybroker 1.2", made)


def test_a_recorded_run_is_read_again(tmp_path: Path, run: Implementation) -> None:
    assert keep(run, tmp_path).name == "mybroker-1.2.json"
    assert list(implementations(tmp_path))[-1] == run
    assert run.recorded == "2026-11-24"
    assert run.reasons == {"WIRE-FRAME-002": "1", "WIRE-FRAME-003": "nobody listens"}


def test_the_page_counts_clauses_of_a_family_and_lists_unmet_ones(
    run: Implementation,
) -> None:
    lines = page([run]).splitlines()
    assert "| WIRE-FRAME | 1/3 |" in lines
    assert not any(line.startswith("| STORE-CRC") for line in lines)
    (unmet,) = [line for line in lines if line.startswith("- **")]
    assert unmet.startswith("- **WIRE-FRAME-002** (MUST): ")
    assert unmet.endswith("Fail: 1")


def test_all_releases_with_evidence_are_implementations() -> None:
    names = [one.name for one in implementations()]
    assert set(names) >= {f"Apache {release}" for release in all_evidence()}


def test_a_command_is_recorded_without_what_is_of_the_machine() -> None:
    command = "rmqc test --target cmd:a.toml --report /tmp/r --jobs=3 --suite wire"
    assert portable(command) == "rmqc test --target cmd:a.toml --suite wire"


def test_a_report_names_the_command_and_not_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = str(Path(cli.__file__).with_name("__main__.py"))
    description = {"text": "embedded:", "kind": "embedded", "release": "4.6.0"}
    commands = []

    def run(prog_name: str) -> None:
        commands.append((prog_name, report_of([], description).command))

    monkeypatch.setattr("cli.main.main", run)
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # the program may buffer it
    monkeypatch.setattr(sys, "argv", [program, "test", "--suite", "wire"])
    runpy.run_path(program, run_name="__main__")
    assert commands == [("rmqc", "rmqc test --suite wire")]
