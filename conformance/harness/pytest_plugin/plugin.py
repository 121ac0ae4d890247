"""
The suite as a pytest plugin: options, markers, fixtures, outcomes and the report.

Each hook is a few lines; what it decides is in the module that it calls.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from conformance.harness.failure import artifacts
from conformance.harness.pytest_plugin import verdict as verdicts
from conformance.harness.pytest_plugin.fixtures import (
    OPTIONS,
    TARGET_OWNER,
    broker,
    group,
    namesrv,
    own_target,
    start_target,
    target,
    topic,
    unique,
)
from conformance.harness.pytest_plugin.grouping import SharedBrokers
from conformance.harness.pytest_plugin.hypothesis_profiles import load_profile
from conformance.harness.pytest_plugin.known_refusals import refusal_in_test
from conformance.harness.pytest_plugin.options import (
    MARKERS,
    add_options,
    options_of,
    suite_of,
)
from conformance.harness.pytest_plugin.ordering import order_items
from conformance.harness.pytest_plugin.recorder import HARNESS_FAILED, Recorder
from conformance.harness.pytest_plugin.selection import (
    applicable,
    clauses_of,
    decide_before,
    refuse_unnamed,
    select,
)
from conformance.harness.report.known_failures import load_known, reason_for
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import Record, Verdict
from conformance.harness.targets.shared_target import TargetOwner, refuses_of

__all__ = [
    "broker",
    "group",
    "namesrv",
    "own_target",
    "start_target",
    "target",
    "topic",
    "unique",
]

RECORD = pytest.StashKey[Record]()
LETTERS = {
    Outcome.ERROR: "E",
    Outcome.FAIL: "F",
    Outcome.KNOWN: "k",
    Outcome.UNSUPPORTED: "u",
    Outcome.NOT_APPLICABLE: "-",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the suite's options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; a worker also gets the description of the target."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    load_profile(config)
    options = options_of(config)
    description = getattr(config, "workerinput", {}).get("conformance_target")
    config.stash[OPTIONS] = options
    config.stash[TARGET_OWNER] = TargetOwner(
        options.target, profile=options.profile, description=description
    )
    record = config.stash[RECORD] = Record(known=load_known(options.known))
    if not hasattr(config, "workerinput"):
        recorder = Recorder(record, config.stash[TARGET_OWNER], options)
        config.pluginmanager.register(recorder, "conformance-recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """End the run where it makes no sense without a target."""
    config = session.config
    if config.stash[OPTIONS].require_target and not hasattr(config, "workerinput"):
        error = config.stash[TARGET_OWNER].description.get("error")
        if error:
            pytest.exit(error, returncode=HARNESS_FAILED)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start the target once for all workers, and send its description to this one."""
    node.workerinput["conformance_target"] = node.config.stash[TARGET_OWNER].description


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep files with the same broker on one worker, where files stay together."""
    return SharedBrokers(config, log) if config.option.dist == "loadfile" else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the target."""
    host = config.stash.get(TARGET_OWNER, None)
    if host is not None:
        host.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Select the tests of the requested suites; reject tests without a clause."""
    refuse_unnamed(items)
    kept = select(items, config.stash[OPTIONS])
    left = [item for item in items if item not in set(kept)]
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = order_items(kept, config.stash[OPTIONS])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin to listen; decide what needs no run to be decided."""
    artifacts.begin(item)
    if suite_of(item):
        target = item.config.stash[TARGET_OWNER].target()
        decide_before(item, target, item.config.stash[OPTIONS])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a test that names clauses its verdict and its text."""
    report = yield
    named = clauses_of(item)
    if not named:
        return report
    host, options = item.config.stash[TARGET_OWNER], item.config.stash[OPTIONS]
    description = host.description
    clauses = named
    if "release" in description:
        beyond = options.beyond_range
        clauses = applicable(named, description["release"], beyond=beyond) or named
    verdict = verdicts.verdict_of(item, call, report, clauses=clauses)
    if verdict is None:
        return report
    if verdict.outcome in (Outcome.FAIL, Outcome.ERROR):
        refused = refusal_in_test(refuses_of(description))
        if refused is not None:
            verdict = verdicts.unsupported_verdict(verdict, refused)
            report.outcome = "skipped"
            report.longrepr = (str(item.path), 0, f"Skipped: {refused}")
    if verdict.outcome is Outcome.FAIL and call.excinfo is not None:
        error, blamed = call.excinfo.value, verdict.blamed
        kept = artifacts.keep(options.report, item, error, blamed)
        _explain(report, error, item, clauses=blamed, kept=kept)
        reason = reason_for(
            item.config.stash[RECORD].known,
            verdict.blamed,
            target=options.target,
            release=description.get("release", ""),
        )
        text = report.longreprtext[: verdicts.TEXT_LIMIT]
        verdict = verdicts.replaced(
            verdict,
            text=text,
            again=verdicts.again(item, options),
            capture=kept.capture,
            vector=kept.vector,
        )
        if reason is not None:
            verdict = verdicts.replaced(verdict, outcome=Outcome.KNOWN, reason=reason)
            report.outcome = "skipped"
            report.wasxfail = reason  # pytest's own mark of an expected failure
    report.conformance = verdict.dump()  # type: ignore[attr-defined] # pytest carries it
    return report


def _explain(
    report: pytest.TestReport,
    error: BaseException,
    item: pytest.Item,
    *,
    clauses: list[str],
    kept: artifacts.Artifacts,
) -> None:
    """Put the failure's own text in the place of a traceback."""
    options = item.config.stash[OPTIONS]
    text = verdicts.text_of_error(error, item, options, clauses=clauses, kept=kept)
    report.longrepr = text or verdicts.text_of_traceback(
        report.longreprtext, item, options, clauses=clauses, kept=kept
    )


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, str] | None:
    """Name the outcomes that pytest does not have."""
    dumped = getattr(report, "conformance", None)
    if dumped is None:
        return None
    outcome = Verdict.load(dumped).outcome
    if outcome in (Outcome.PASS, Outcome.FAIL):
        return None
    return outcome.value, LETTERS[outcome], outcome.value.upper()
