"""
Cases of a run that are not tests of pytest: steps of the baseline, stale entries.

Pytest's last line and the file of JUnit count them, so that both agree with the exit
code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from _pytest.junitxml import xml_key

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import BASELINE, Verdict

BASELINE_CASES = BASELINE.rstrip(": ")
STALE_CASES = "stale known failures"
BROKE_CASES = "target broken after the test"
RUN_CASES = "run"
"""Names of the classes that JUnit shows."""
NOT_HONEST = "not honest"


def add_cases(config: pytest.Config, kind: str, verdicts: Iterable[Verdict]) -> None:
    """Add a case for each of *verdicts* to JUnit's file, and failures to the terminal.

    A passed case is not counted in the terminal: it is not a test.
    """
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    junit = config.stash.get(xml_key, None)
    for verdict in verdicts:
        report = _report_of(kind, verdict)
        if junit is not None:
            junit.pytest_runtest_logreport(report)
        if terminal is not None and not report.passed:
            outcome = "failed" if report.failed else verdict.outcome.value
            terminal.stats.setdefault(outcome, []).append(report)


def add_remarks(
    config: pytest.Config, interrupted: str, violations: Iterable[str]
) -> None:
    """Add an error for an interrupted run, and properties for violations, to JUnit."""
    junit = config.stash.get(xml_key, None)
    if junit is None:
        return
    for violation in violations:
        junit.add_global_property(NOT_HONEST, violation)
    if interrupted:
        report = _report(RUN_CASES, interrupted)
        report.when, report.outcome, report.longrepr = "setup", "failed", interrupted
        junit.pytest_runtest_logreport(report)


@contextmanager
def junit_written(config: pytest.Config) -> Iterator[str]:
    """Write JUnit's file, and yield the reason if that fails.

    Pytest writes it too, within this context to nowhere: its error would end the run
    without a summary.
    """
    junit = config.stash.get(xml_key, None)
    if junit is None:
        yield ""
        return
    file, problem = junit.logfile, ""
    try:
        junit.pytest_sessionfinish()
    except OSError as error:
        with suppress(OSError):
            Path(file).unlink()
        problem = f"{file}: {error.strerror}"
    junit.logfile = os.devnull
    try:
        yield problem
    finally:
        junit.logfile = file


def _report_of(kind: str, verdict: Verdict) -> pytest.TestReport:
    """Return *verdict* as a report of pytest."""
    name = verdict.test.rpartition("/")[2].replace("::", ".").removeprefix(BASELINE)
    if kind == STALE_CASES:
        name = verdict.blamed[0]
    report = _report(kind, name)
    if verdict.outcome in (Outcome.FAIL, Outcome.ERROR):
        report.outcome, report.longrepr = "failed", verdict.text
    elif verdict.outcome is Outcome.KNOWN:
        report.outcome = "skipped"
        report.wasxfail = verdict.reason
    return report


def _report(kind: str, name: str) -> pytest.TestReport:
    """Return a report of a case that passed."""
    return pytest.TestReport(
        nodeid=f"{kind}::{name}",
        location=(kind, None, name),
        keywords={},
        outcome="passed",
        longrepr=None,
        when="call",
    )
