"""
Fixtures of tests: the target, connections to it, and unique names.

A fixture that the target cannot serve makes the test *unsupported* there.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from conformance.harness.blocked.preconditions import precondition
from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.options import Options
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.shared_target import (
    SharedTarget,
    TargetOwner,
    has_late_routes,
)
from conformance.harness.targets.target import Capability, Target, parse_target
from conformance.harness.targets.topics import request_group, request_topic

TARGET_OWNER = pytest.StashKey[TargetOwner]()
OPTIONS = pytest.StashKey[Options]()
TARGET_CACHE = pytest.StashKey[TargetCache]()

_run = uuid.uuid4().hex[:8]
_numbers = itertools.count(1)


class TargetStarter(Protocol):
    """Starts a target of the test's own, of the same kind as the run's."""

    def __call__(
        self, conf: Mapping[str, str] | None = None, *, store: Path | None = None
    ) -> Target:
        """Return it, started with the broker settings *conf*, on *store* if given."""


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> SharedTarget:
    """Return the run's target, which all tests share and none may stop."""
    return pytestconfig.stash[TARGET_OWNER].target()


@pytest.fixture(scope="session")
def target_cache(pytestconfig: pytest.Config) -> Iterator[TargetCache]:
    """Yield the targets of this process that several tests use."""
    made = pytestconfig.stash[TARGET_CACHE] = TargetCache()
    yield made
    made.close()


@pytest.fixture
def namesrv(target: SharedTarget) -> Iterator[Client]:
    """Yield a fresh connection to the name server."""
    need(target, Capability.WIRE)
    with target.connect_to_namesrv() as client:
        yield client


@pytest.fixture
def broker(target: SharedTarget) -> Iterator[Client]:
    """Yield a fresh connection to the broker."""
    need(target, Capability.WIRE)
    with target.connect_to_broker() as client:
        yield client


@pytest.fixture(scope="session")
def unique() -> Callable[[str], str]:
    """Return a function that appends a unique suffix to a prefix."""
    return unique_name


@pytest.fixture
def group() -> str:
    """Return a unique group name, new to the broker."""
    return unique_name("group")


@pytest.fixture
def topic(target: SharedTarget) -> str:
    """Return a topic of the test's own with 4 queues, known to broker and routes."""
    need(target, Capability.WIRE)
    return create_topic(target, unique_name("topic"))


@pytest.fixture
def start_target(
    pytestconfig: pytest.Config, target: SharedTarget
) -> Iterator[TargetStarter]:
    """Return a function that starts a target which the test may stop, kill, restart."""
    need(target, Capability.RESTART)
    with ExitStack() as ends:  # each, even if the end of another fails

        def start(
            conf: Mapping[str, str] | None = None, *, store: Path | None = None
        ) -> Target:
            own = another_target(pytestconfig, conf, store=store)
            ends.callback(own.close)
            own.start()
            return own

        yield start


@pytest.fixture
def own_target(start_target: TargetStarter) -> Target:
    """Return a started target of the test's own, to stop, kill and restart."""
    return start_target()


def another_target(
    config: pytest.Config,
    conf: Mapping[str, str] | None = None,
    *,
    store: Path | None = None,
    own_name_server: bool = False,
) -> Target:
    """Return a target of the same kind as the run's, not yet started.

    Its broker has the settings *conf*, and *store* if given. A test about the name
    server needs an *own_name_server*, which ends and starts with the broker.
    """
    options = config.stash[OPTIONS]
    own = parse_target(options.target, profile=options.profile, conf=conf, store=store)
    own.shares_name_server = not own_name_server
    own.has_late_routes = has_late_routes(config.stash[TARGET_OWNER].known_description)
    return own


def with_clock_rate(config: pytest.Config, rate: float) -> Target:
    """Return a target whose clock is to run *rate* times as fast, not yet started."""
    own = another_target(config)
    own.clock_rate = rate
    return own


@contextmanager
def watched_target(
    config: pytest.Config, rate: float
) -> Iterator[tuple[Target, float]]:
    """Yield a target to wait at, and how fast its clock runs.

    One of the suite's own runs *rate* times as fast, where the target allows it.
    """
    target: Target = config.stash[TARGET_OWNER].target()
    if Capability.CLOCK not in target.capabilities:
        yield target, 1.0
        return
    with with_clock_rate(config, rate) as own:
        yield own, rate


def create_topic(target: Target, name: str, **config: Any) -> str:
    """Create a topic on *target*'s broker and wait until it is routed to.

    Where the target does not do this, the running test has no verdict. Where new topics
    have no route in time, the test does not wait: most need none.
    """
    with precondition():
        require_success(request_topic(target, name, **config))
        if target.has_late_routes:
            return name
        with target.connect_to_namesrv() as namesrv:
            namesrv.wait_for_route(name)
    return name


def create_group(target: Target, name: str, **settings: Any) -> str:
    """Create a subscription group on *target*'s broker, as `create_topic` a topic."""
    with precondition():
        require_success(request_group(target, name, **settings))
    return name


def unique_name(prefix: str) -> str:
    """Return a name that no other test, worker or run uses."""
    return f"{prefix}_{_run}_{next(_numbers)}"


def _choose_run() -> None:
    """Give a forked worker names of its own."""
    global _run
    _run = uuid.uuid4().hex[:8]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_choose_run)


def need(target: Target, *capabilities: Capability) -> None:
    """Make the running test unsupported if *target* lacks one of *capabilities*."""
    lacking = [wanted for wanted in capabilities if wanted not in target.capabilities]
    if lacking:
        unsupported(f"{target.text} does not allow: {', '.join(sorted(lacking))}")
