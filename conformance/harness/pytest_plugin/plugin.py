"""
The suite as a pytest plugin: options, markers, fixtures, outcomes and the report.

Each hook is a few lines; what it decides is in the module that it calls.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from conformance.harness.baseline.baseline import description_of
from conformance.harness.blocked.guard import GUARD, Guard, run_guarded
from conformance.harness.failure import artifacts
from conformance.harness.process.workspace import Workspace
from conformance.harness.pytest_plugin.collection.grouping import SharedBrokers
from conformance.harness.pytest_plugin.collection.selection import (
    clauses_of,
    decide_before,
    order_items,
    refuse_unnamed,
    select,
)
from conformance.harness.pytest_plugin.fixtures import (
    OPTIONS,
    TARGET_CACHE,
    TARGET_OWNER,
    broker,
    group,
    namesrv,
    own_target,
    start_target,
    target,
    target_cache,
    topic,
    unique,
)
from conformance.harness.pytest_plugin.forked_workers import (
    WorkerForkServers,
    receive_fork_server,
)
from conformance.harness.pytest_plugin.hypothesis_profiles import load_profile
from conformance.harness.pytest_plugin.options import (
    JUNIT,
    MARKERS,
    add_options,
    options_of,
    suite_of,
)
from conformance.harness.pytest_plugin.verdicts.recorder import HARNESS_FAILED, Recorder
from conformance.harness.pytest_plugin.verdicts.reporting import (
    KNOWN,
    add_verdict,
    block_before,
    clauses_about_target,
    noted_requests,
)
from conformance.harness.report import report as run_report
from conformance.harness.report.known_failures import load_known
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages import run_page
from conformance.harness.report.run_record import Record, Verdict
from conformance.harness.targets.shared_target import TargetOwner

__all__ = [
    "broker",
    "group",
    "namesrv",
    "own_target",
    "start_target",
    "target",
    "target_cache",
    "topic",
    "unique",
]

RECORD = pytest.StashKey[Record]()
BREAKS = pytest.StashKey[Workspace]()
"""Directory of the file in which workers share the first break of the target."""
FORK_SERVERS = pytest.StashKey[WorkerForkServers]()
"""Fork servers of the workers, in the process that starts them."""
OBJECTS_PER_COLLECTION = 10_000
LETTERS = {
    Outcome.ERROR: "E",
    Outcome.FAIL: "F",
    Outcome.KNOWN: "k",
    Outcome.BLOCKED: "b",
    Outcome.UNSUPPORTED: "u",
    Outcome.NOT_APPLICABLE: "-",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the suite's options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; a worker also gets the description of the target."""
    gc.disable()  # until collection is finished
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    # A failure with a large body is not replaced by the warning about its text.
    config.addinivalue_line("filterwarnings", "ignore:Generating overly large repr")
    load_profile(config)
    options = config.stash[OPTIONS] = options_of(config)
    worker = getattr(config, "workerinput", None)
    received = worker or {}
    if options.report and worker is None and not config.option.collectonly:
        _prepare(options.report)
    owner = config.stash[TARGET_OWNER] = TargetOwner(
        options.target,
        profile=options.profile,
        description=received.get("conformance_target"),
        check=partial(description_of, baseline=options.baseline),
    )
    receive_fork_server(received)
    first_break = received.get("conformance_break")
    config.stash[GUARD] = Guard(
        owner, record=Path(first_break) if first_break else None
    )
    known = config.stash[KNOWN] = load_known(options.known)
    record = config.stash[RECORD] = Record(known=known)
    if worker is None:
        config.stash[FORK_SERVERS] = WorkerForkServers(config, options.target)
        recorder = Recorder(record, owner, options)
        config.pluginmanager.register(recorder, "conformance-recorder")


def _prepare(directory: Path) -> None:
    """Remove the report of an earlier run from *directory*, and try to write there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory) as file:
            file.write(b"tried")
        for name in (run_report.FILE_NAME, *run_page.FILES, JUNIT):
            (directory / name).unlink(missing_ok=True)
        for folder, suffix in artifacts.FOLDERS.items():
            for old in (directory / folder).glob(f"*{suffix}"):
                old.unlink()
    except OSError as error:
        raise pytest.UsageError(f"--report {directory}: {error.strerror}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """End the run where it makes no sense without a target."""
    config = session.config
    if config.stash[OPTIONS].require_target and not hasattr(config, "workerinput"):
        error = config.stash[TARGET_OWNER].description.get("error")
        if error:
            pytest.exit(error, returncode=HARNESS_FAILED)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Let workers be forks of a process that has imported the tests."""
    config.stash[FORK_SERVERS].use_for(specs)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start the target once for all workers, and send its description to this one."""
    config = node.config
    node.workerinput["conformance_target"] = config.stash[TARGET_OWNER].description
    if BREAKS not in config.stash:
        config.stash[BREAKS] = Workspace()
    record = config.stash[BREAKS].path / "first.json"
    node.workerinput["conformance_break"] = str(record)
    config.stash[FORK_SERVERS].send_to(node.workerinput)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep files with the same broker on one worker, where files stay together."""
    return SharedBrokers(config, log) if config.option.dist == "loadfile" else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the target; give back everything, even if its end fails."""
    with ExitStack() as ends:  # the target first
        if FORK_SERVERS in config.stash:
            ends.callback(config.stash[FORK_SERVERS].close)
        if BREAKS in config.stash:
            ends.callback(config.stash[BREAKS].close)
        if TARGET_OWNER in config.stash:
            ends.callback(config.stash[TARGET_OWNER].close)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Select the tests of the requested suites; reject tests without a clause."""
    refuse_unnamed(items)
    kept = select(items, config.stash[OPTIONS])
    chosen = set(kept)
    left = [item for item in items if item not in chosen]
    if left:
        config.hook.pytest_deselected(items=left)
    target = config.stash[TARGET_OWNER].target_of_workers()
    items[:] = order_items(kept, config.stash[OPTIONS], target)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note the clauses of tests that are not selected."""
    for item in items:
        item.config.stash[RECORD].partial.update(clauses_of(item))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the clauses of tests that are not selected, in a worker."""
    config: Any = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["conformance_partial"] = sorted(
            config.stash[RECORD].partial
        )


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Record the clauses from a worker; one that crashed has not sent any."""
    names = getattr(node, "workeroutput", {}).get("conformance_partial", ())
    node.config.stash[RECORD].partial.update(names)


def pytest_collection_finish() -> None:
    """Keep the collector of cycles from tests and modules, which last until the end.

    It would visit these hundreds of thousands of objects again and again. That and its
    visits after each 700 new objects took 8 % of the processor time of a run.
    """
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin to listen; decide what needs no run to be decided."""
    artifacts.begin(item)
    if suite_of(item):
        target = item.config.stash[TARGET_OWNER].target()
        options = item.config.stash[OPTIONS]
        decide_before(item, target, options)
        if not options.until_failed:
            block_before(item)
            item.config.stash[GUARD].before(item.nodeid, clauses_about_target(item))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End cached targets that are idle: a file of tests may last some minutes.

    Check the target after the last test, as the setup of each other test does.
    """
    used = item.config.stash.get(TARGET_CACHE, None)
    if nextitem is None:
        item.config.stash[GUARD].check_previous()
    elif used is None:
        return
    elif nextitem.path == item.path:
        used.end_idle()
    else:
        used.end_file()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Note the requests of a fixture whose value later tests use too."""
    with noted_requests(request.config, fixturedef):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a test that names clauses its verdict and its text."""
    report = yield
    if clauses_of(item):
        add_verdict(item, call, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> bool | None:
    """Run *item*, twice where its target broke while other workers used it too."""
    if not suite_of(item) or not hasattr(item.config, "workerinput"):
        return None  # pytest runs it
    run_guarded(item, nextitem, item.config.stash[GUARD])
    return True


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
