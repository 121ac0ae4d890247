"""
What a test may ask for: the target, connections to it, names that nobody else uses.

A fixture that the target cannot serve makes the test *unsupported* there.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from conformance.harness.live import Host, LiveTarget
from conformance.harness.options import Options
from conformance.harness.outcome import unsupported
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Capability, Target, parse_target

HOST = pytest.StashKey[Host]()
OPTIONS = pytest.StashKey[Options]()

_RUN = uuid.uuid4().hex[:8]
_numbers = itertools.count(1)


class TargetStarter(Protocol):
    """Starts a target of the test's own, of the same kind as the run's."""

    def __call__(
        self, conf: Mapping[str, str] | None = None, *, store: Path | None = None
    ) -> Target:
        """Return it, started with the broker settings *conf*, on *store* if given."""


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> LiveTarget:
    """Return the run's target, which all tests share and none may stop."""
    return pytestconfig.stash[HOST].target()


@pytest.fixture
def namesrv(target: LiveTarget) -> Iterator[Speaker]:
    """Yield a fresh connection to the name server."""
    need(target, Capability.WIRE)
    with target.speak_to_namesrv() as speaker:
        yield speaker


@pytest.fixture
def broker(target: LiveTarget) -> Iterator[Speaker]:
    """Yield a fresh connection to the broker."""
    need(target, Capability.WIRE)
    with target.speak_to_broker() as speaker:
        yield speaker


@pytest.fixture(scope="session")
def unique() -> Callable[[str], str]:
    """Return a function that makes of a prefix a name that nobody else uses."""
    return unique_name


@pytest.fixture
def group() -> str:
    """Return the name of a group that nobody else uses, new to the broker."""
    return unique_name("group")


@pytest.fixture
def topic(target: LiveTarget) -> str:
    """Return a topic of the test's own with 4 queues, known to broker and routes."""
    need(target, Capability.WIRE)
    return create_topic(target, unique_name("topic"))


@pytest.fixture
def start_target(
    pytestconfig: pytest.Config, target: LiveTarget
) -> Iterator[TargetStarter]:
    """Return a function that starts a target which the test may stop, kill, restart."""
    need(target, Capability.RESTART)
    started: list[Target] = []

    def start(
        conf: Mapping[str, str] | None = None, *, store: Path | None = None
    ) -> Target:
        own = another_target(pytestconfig, conf, store=store)
        started.append(own)
        own.start()
        return own

    yield start
    for own in started:
        own.close()


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

    Its broker has the settings *conf*, and *store* if given. A test that is about the
    name server wants an *own_name_server*, which ends and starts with the broker.
    """
    options = config.stash[OPTIONS]
    own = parse_target(options.target, profile=options.profile, conf=conf, store=store)
    own.shares_name_server = not own_name_server
    return own


def hastened(config: pytest.Config, rate: float) -> Target:
    """Return a target whose clock is to run *rate* times as fast, not yet started."""
    own = another_target(config)
    own.clock_rate = rate
    return own


def create_topic(target: Target, name: str, *, queue_count: int = 4) -> str:
    """Create a topic on *target*'s broker and wait until it is routed to."""
    with target.speak_to_broker() as broker, target.speak_to_namesrv() as namesrv:
        succeeded(broker.create_topic(topic=name, queue_count=queue_count))
        namesrv.wait_for_route(name)
    return name


def unique_name(prefix: str) -> str:
    """Return a name that no other test, worker or run uses."""
    return f"{prefix}_{_RUN}_{next(_numbers)}"


def need(target: Target, *capabilities: Capability) -> None:
    """Make the running test unsupported if *target* lacks one of *capabilities*."""
    lacking = [wanted for wanted in capabilities if wanted not in target.capabilities]
    if lacking:
        unsupported(f"{target.text} does not allow: {', '.join(lacking)}")
