"""Fixtures of the routing suite: a stage for fake brokers, and silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.fixtures import HOST, OPTIONS
from conformance.harness.target import Target, TargetError
from conformance.routing.fake_broker import Stage
from conformance.routing.silence import Seen, Watch

WATCH = pytest.StashKey[Watch]()


@pytest.fixture
def stage(target: Target, unique: Callable[[str], str]) -> Iterator[Stage]:
    """Return a stage at the target's name server, swept when the test ends."""
    assert target.namesrv is not None
    with Stage(target.namesrv, unique) as opened:
        yield opened


@pytest.fixture
def silence(pytestconfig: pytest.Config) -> Seen:
    """Return what two minutes of silence led to, which began with the run."""
    return pytestconfig.stash[WATCH].result()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fall silent now, so that nobody has to wait for what comes of it."""
    config = session.config
    wanted = any("silence" in getattr(one, "fixturenames", ()) for one in session.items)
    if not wanted or config.option.collectonly or config.stash[OPTIONS].read_only:
        return
    try:
        target = config.stash[HOST].target()
    except TargetError:
        return  # each test is told so
    if target.namesrv is not None and target.broker is not None:
        config.stash[WATCH] = Watch(config.stash[OPTIONS], target)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the silence."""
    watch = session.config.stash.get(WATCH, None)
    if watch is not None:
        watch.close()
