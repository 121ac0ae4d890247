"""Fixtures of the store suite: a store whose history is known, or any store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.pytest_plugin.background import (
    Observation,
    begin,
    end,
    result_of,
)
from conformance.harness.pytest_plugin.fixtures import OPTIONS, another_target, need
from conformance.harness.pytest_plugin.known_settings import (
    configured,
    may_change_running,
)
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.store.disk.expired_files import Aged, aged
from conformance.store.disk.full_disk import Filled, filled
from conformance.store.files.special import (
    SETTINGS,
    Special,
    running_settings,
    write_special,
)
from conformance.store.replication.slave_under_test import Followed, followed_slave
from conformance.store.written_store import SMALL_FILES, Written, write
from spec.store.commit_log import Stop

OF_A_WATCH = {
    Capability.STORE,
    Capability.WIRE,
    Capability.CONFIG,
    Capability.RESTART,
}


@pytest.fixture
def written(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Written:
    """Return a target with a known history: of the suite's own, with small files.

    On a running cluster that may be configured it is the cluster itself.
    """
    return target_cache.get("written", partial(_written, pytestconfig, target))


@contextmanager
def _written(config: pytest.Config, target: Target) -> Iterator[Written]:
    if may_change_running(config, target):
        yield write(target, is_alone=False)
        return
    need(target, Capability.WIRE, Capability.CONFIG)
    with another_target(config, SMALL_FILES) as own:
        yield write(own)


@pytest.fixture
def files(target: Target, request: pytest.FixtureRequest) -> StoreFiles:
    """Return the files of the store that is examined: the one given, else our own."""
    need(target, Capability.STORE)
    if not target.capabilities >= {Capability.WIRE, Capability.CONFIG}:
        assert target.store_path is not None
        return StoreFiles(target.store_path)
    own = request.getfixturevalue("written")
    assert isinstance(own, Written)
    return own.files


@pytest.fixture
def readable(files: StoreFiles, pytestconfig: pytest.Config) -> StoreFiles:
    """Return *files*, whose commit log has records and can be read to its end.

    Otherwise the test is blocked: it compares other files with all records.
    """
    if pytestconfig.stash[OPTIONS].until_failed:
        return files
    log_files = files.log_files()
    broken = [one for one in log_files if one.scan.stop is Stop.BROKEN]
    if broken:
        first = broken[0]
        reason = f"{first.name} ends at {first.scan.end_offset}: {first.scan.error}"
        blocked(f"blocked by STORE-LOG-001: {reason}")
    if not any(one.scan.records for one in log_files):
        blocked("blocked by STORE-LOG-001: the commit log has no record")
    return files


@pytest.fixture
def special(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Special:
    """Return the store of a target configured to write every kind of file.

    A running cluster that may be configured has the settings while the suite sends.
    """
    return target_cache.get("special", partial(_special, pytestconfig, target))


@contextmanager
def _special(config: pytest.Config, target: Target) -> Iterator[Special]:
    if may_change_running(config, target):
        need(target, Capability.WIRE, Capability.STORE)
        with target.connect_for_admin() as admin:
            settings = running_settings(admin.broker_settings())
        with configured(target, settings):
            made = write_special(target, is_alone=False)
        yield made
        return
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE)
    with another_target(config, SETTINGS) as own:
        yield write_special(own)


@pytest.fixture(name="aged")
def aged_store(pytestconfig: pytest.Config) -> Aged:
    """Return the observations of a store with old files, which began with the run."""
    seen = result_of(pytestconfig, "aged")
    assert isinstance(seen, Aged)
    return seen


@pytest.fixture(name="filled")
def filled_disk(pytestconfig: pytest.Config) -> Filled:
    """Return the observations of a store on a small disk, which began with the run."""
    seen = result_of(pytestconfig, "filled")
    assert isinstance(seen, Filled)
    return seen


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin the slow observations now, so that no test waits for them."""
    watchings = {"aged": _on_another(aged), "filled": _on_another(filled)}
    begin(session, watchings, lambda target: target.capabilities >= OF_A_WATCH)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End what was begun."""
    end(session, exitstatus)


def _on_another(watching: Callable[[Target, threading.Event], object]) -> Observation:
    """Return the same on a target that is started and stopped for it."""

    def watch(config: pytest.Config, ending: threading.Event) -> object:
        with closing(another_target(config)) as own:
            return watching(own, ending)

    return watch


@pytest.fixture
def followed(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Followed:
    """Return a slave whose master is a script."""
    return target_cache.get("followed", partial(followed_slave, pytestconfig, target))
