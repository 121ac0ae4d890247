"""Fixtures of the store suite: a store whose history is known, or any store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.fixtures import HOST, OPTIONS, need
from conformance.harness.store_files import StoreFiles
from conformance.harness.target import (
    Capability,
    Target,
    TargetError,
    parse_target,
)
from conformance.store.ageing import Aged, aged
from conformance.store.background import Background
from conformance.store.filling import Filled, filled
from conformance.store.followed import Followed, followed_slave
from conformance.store.special import SETTINGS, Special, write_special
from conformance.store.written import SMALL_FILES, Written, write

AGED = pytest.StashKey[Background[Aged]]()
FILLED = pytest.StashKey[Background[Filled]]()


@pytest.fixture(scope="session")
def written(pytestconfig: pytest.Config, target: Target) -> Iterator[Written]:
    """Return a target of the suite's own, with small files and a known history."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=SMALL_FILES) as own:
        yield write(own)


@pytest.fixture
def files(target: Target, request: pytest.FixtureRequest) -> StoreFiles:
    """Return the files of the store that is examined: the one given, else our own."""
    need(target, Capability.STORE)
    if Capability.WIRE not in target.capabilities:
        assert target.store_path is not None
        return StoreFiles(target.store_path)
    own = request.getfixturevalue("written")
    assert isinstance(own, Written)
    return own.files


@pytest.fixture(scope="session")
def special(pytestconfig: pytest.Config, target: Target) -> Iterator[Special]:
    """Return the store of a target told to write what it does not by default."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE)
    options = pytestconfig.stash[OPTIONS]
    with parse_target(options.target, profile=options.profile, conf=SETTINGS) as own:
        yield write_special(own)


@pytest.fixture(name="aged")
def aged_store(pytestconfig: pytest.Config) -> Aged:
    """Return what became of a store with old files, which began with the run."""
    return pytestconfig.stash[AGED].result()


@pytest.fixture(name="filled")
def filled_disk(pytestconfig: pytest.Config) -> Filled:
    """Return what became of a store on a small disk, which began with the run."""
    return pytestconfig.stash[FILLED].result()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin with what takes minutes, so that nobody has to wait for it."""
    config = session.config
    if config.option.collectonly or config.stash[OPTIONS].read_only:
        return
    wanted = {
        name for one in session.items for name in getattr(one, "fixturenames", ())
    }
    if not wanted.intersection(("aged", "filled")) or not _allows(config):
        return
    if "aged" in wanted:
        config.stash[AGED] = Background(config, aged)
    if "filled" in wanted:
        config.stash[FILLED] = Background(config, filled)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End what was begun."""
    for begun in (
        session.config.stash.get(AGED, None),
        session.config.stash.get(FILLED, None),
    ):
        if begun is not None:
            begun.close()


def _allows(config: pytest.Config) -> bool:
    """Return whether the target allows what takes minutes."""
    try:
        target = config.stash[HOST].target()
    except TargetError:
        return False  # each test is told so
    return {
        Capability.STORE,
        Capability.WIRE,
        Capability.CONFIG,
        Capability.RESTART,
    } <= target.capabilities


@pytest.fixture(scope="session")
def followed(pytestconfig: pytest.Config, target: Target) -> Iterator[Followed]:
    """Yield a slave whose master is a script."""
    yield from followed_slave(pytestconfig, target)
