"""Shared fixtures: a known group, and brokers with settings of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_group,
    create_topic,
    need,
)
from conformance.harness.pytest_plugin.known_settings import need_settings
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.popping import Popper
from conformance.messaging.shelf import ODD, Shelf, filled
from conformance.messaging.transaction_checks import EAGER, eager_settings

LARGEST_MESSAGE = 65_536
FILTERING = {"enablePropertyFilter": "true"}


@pytest.fixture
def known_group(target: Target, group: str) -> str:
    """Return the name of a new group; 5.3 commits offsets only of such."""
    return create_group(target, group)


@pytest.fixture
def popper(broker: Client, target: Target, topic: str, known_group: str) -> Popper:
    """Return a new group that pops a new topic of 4 queues."""
    return Popper(
        broker=broker,
        broker_name=target.broker_name,
        topic=topic,
        group=known_group,
    )


@pytest.fixture(scope="session")
def obedient(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Return a target whose settings tests may change, and which filters by SQL92.

    Its largest message is small. Each test puts back what it changed. TBW102 may be
    closed there.
    """
    need(target, Capability.WIRE, Capability.CONFIG)
    conf = {"maxMessageSize": str(LARGEST_MESSAGE), **FILTERING}
    yield from own_target_with(pytestconfig, conf)


@pytest.fixture(scope="session")
def filtering(request: pytest.FixtureRequest, target: Target) -> Target:
    """Return a target whose broker filters by SQL92."""
    if Capability.CONFIG in target.capabilities:
        found: Target = request.getfixturevalue("obedient")
        return found
    need_settings(target, FILTERING)
    return target


@pytest.fixture(scope="session")
def eager(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose broker checks half messages often."""
    if Capability.CONFIG in target.capabilities:
        yield from own_target_with(pytestconfig, EAGER)
    else:
        need_settings(target, eager_settings(target.release))
        yield target


@pytest.fixture
def eager_broker(eager: Target) -> Iterator[Client]:
    """Yield a connection to the eager broker."""
    with eager.connect_to_broker() as client:
        yield client


@pytest.fixture
def place(eager: Target, unique: Callable[[str], str]) -> str:
    """Return a new topic of the eager broker."""
    return create_topic(eager, unique("topic"))


@pytest.fixture
def chooser(filtering: Target) -> Iterator[Client]:
    """Yield a connection to a broker that filters."""
    with filtering.connect_to_broker() as client:
        yield client


@pytest.fixture(scope="session")
def odd_stock(filtering: Target, unique: Callable[[str], str]) -> Shelf:
    """Return a shelf of unusual texts, whose connection has ended."""
    with filtering.connect_to_broker() as client:
        return filled(filtering, client, unique("odd"), ODD)


@pytest.fixture
def odd(odd_stock: Shelf, chooser: Client) -> Shelf:
    """Return the shelf of unusual texts, over a fresh connection."""
    return replace(odd_stock, broker=chooser)


def own_target_with(
    pytestconfig: pytest.Config, conf: Mapping[str, str]
) -> Iterator[Target]:
    """Yield a target like the one under test, with these settings of its broker."""
    with another_target(pytestconfig, conf) as own:
        yield own
