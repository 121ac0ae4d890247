"""Shared fixtures: a broker with light message queues, and clients of a bound group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.harness.blocked.preconditions import precondition
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.pytest_plugin.known_settings import with_settings
from conformance.harness.targets.target import Target
from conformance.messaging.lite.requests import LiteClient
from spec.wire.pop.lite_topics import (
    BIND_TOPIC,
    EXCLUSIVE,
    MESSAGE_TYPE_LITE,
    SUBSCRIPTION_MODEL,
)

LIGHT_QUEUES = {"enableLmq": "true", "enableMultiDispatch": "true"}
EXPIRATION_MIN = 60


@pytest.fixture
def light(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield the target while its broker has light message queues.

    A running broker reads the settings with each message. No test relies on their
    absence.
    """
    with with_settings(pytestconfig, target, LIGHT_QUEUES):
        yield target


@pytest.fixture
def parent(light: Target, unique: Callable[[str], str]) -> str:
    """Return a new topic for lite topics."""
    name = unique("parent")
    attributes = f"{MESSAGE_TYPE_LITE},+lite.topic.expiration={EXPIRATION_MIN}"
    with light.connect_for_admin() as admin, precondition():
        require_success(admin.create_topic(topic=name, attributes=attributes))
    return name


@pytest.fixture
def lite(
    light: Target, broker: Client, parent: str, unique: Callable[[str], str]
) -> LiteClient:
    """Return a client of a new group that is bound to a new parent topic."""
    group = create_group(light, unique("group"), attributes={BIND_TOPIC: parent})
    return LiteClient(
        broker=broker,
        broker_name=light.broker_name,
        parent=parent,
        group=group,
        client_id=unique("client"),
    )


@pytest.fixture
def exclusive_group(light: Target, parent: str, unique: Callable[[str], str]) -> str:
    """Return a new group in which one client at a time has a lite topic."""
    attributes = {BIND_TOPIC: parent, SUBSCRIPTION_MODEL: EXCLUSIVE}
    return create_group(light, unique("group"), attributes=attributes)
