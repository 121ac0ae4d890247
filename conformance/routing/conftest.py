"""Fixtures of the routing suite: clusters of fake brokers, and silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.client.address import Address
from conformance.harness.pytest_plugin.background import begin, end, result_of
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.target import Capability, Target
from conformance.routing.fake_broker import FakeCluster
from conformance.routing.liveness.silence import (
    Idle,
    Seen,
    watch,
    watch_idle,
)
from conformance.routing.liveness.silent_clients import (
    watch_members,
    watch_producers,
)


@pytest.fixture
def fake_cluster(target: Target, unique: Callable[[str], str]) -> Iterator[FakeCluster]:
    """Return fake brokers at the target's name server, swept when the test ends."""
    need(target, Capability.WIRE)
    assert target.namesrv is not None
    with FakeCluster(target.namesrv, unique, target.release) as opened:
        yield opened


@pytest.fixture
def registered_broker(target: Target) -> Address:
    """Return the address of the target's broker; without one, a test has no verdict."""
    return target.broker_address()


@pytest.fixture
def silence(pytestconfig: pytest.Config) -> Seen:
    """Return the events after two minutes of silence, which began with the run."""
    seen = result_of(pytestconfig, "silence")
    assert isinstance(seen, Seen)
    return seen


@pytest.fixture
def silent_members(pytestconfig: pytest.Config) -> Seen:
    """Return the events of a group whose member was silent since the run began."""
    seen = result_of(pytestconfig, "silent_members")
    assert isinstance(seen, Seen)
    return seen


@pytest.fixture
def silent_producers(pytestconfig: pytest.Config) -> Seen:
    """Return the events of a group whose producer was silent since the run began."""
    seen = result_of(pytestconfig, "silent_producers")
    assert isinstance(seen, Seen)
    return seen


@pytest.fixture
def idle(pytestconfig: pytest.Config) -> Idle:
    """Return the ends of idle connections, which were opened when the run began."""
    seen = result_of(pytestconfig, "idle")
    assert isinstance(seen, Idle)
    return seen


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fall silent now, so that no test waits for the consequences."""
    observations = {
        "silence": watch,
        "silent_members": watch_members,
        "silent_producers": watch_producers,
        "idle": watch_idle,
    }
    begin(session, observations, has_both)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End the silence."""
    end(session, exitstatus)


def has_both(target: Target) -> bool:
    """Return whether *target* is a name server and a broker."""
    return target.namesrv is not None and target.broker is not None
