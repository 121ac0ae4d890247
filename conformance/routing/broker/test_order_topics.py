"""Order topics that a broker learns from the responses to its registrations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.process.deadline import comes_true, wait_until
from conformance.harness.pytest_plugin.expectations import expect_that
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.pytest_plugin.known_settings import (
    may_change_running,
    need_settings,
)
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Target
from spec.registry import clause
from spec.routing.kv_config import ORDER_TOPIC_NAMESPACE

pytestmark = pytest.mark.long
REGISTRATION_S = 30
"""Default seconds between two registrations of a broker."""
SOON_S = 3
"""Seconds for one registration and its response."""


def is_ordered(broker: Client, topic: str) -> bool:
    """Return whether *topic* is an order topic in the broker's own table."""
    found = body_of(broker.all_topic_config())
    assert isinstance(found, dict)
    return bool(found["topicConfigTable"][topic]["order"])


@pytest.fixture
def ordering(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, target: SharedTarget
) -> Target:
    """Return a target whose broker has one name server: with several, the first counts.

    It is the running one if its other topics keep their order (ROUTE-BROKER-013).
    """
    forgets = clause("ROUTE-BROKER-013").applies_to(target.release)
    if may_change_running(pytestconfig, target) and not forgets:
        need_settings(target, {"namesrvAddr": str(target.namesrv)})
        return target
    own = request.getfixturevalue("own_target")
    assert isinstance(own, Target)
    return own


@pytest.mark.clause("ROUTE-BROKER-012")
def test_a_broker_learns_which_topics_are_ordered(
    ordering: Target, unique: Callable[[str], str]
) -> None:
    topic = create_topic(ordering, unique("ordered"))
    value = f"{ordering.broker_name}:4"
    entry = {"namespace": ORDER_TOPIC_NAMESPACE, "key": topic}
    with ordering.connect_to_namesrv() as namesrv:
        require_success(namesrv.put_kv(**entry, value=value))
        try:
            expect_that(
                "ROUTE-BROKER-012",
                comes_true(
                    lambda: learns_order(ordering, topic, unique), REGISTRATION_S + 15
                ),
                found="not ordered after several registrations",
                expected=f"{topic} is ordered at the broker",
                transcript=namesrv.transcript,
            )
        finally:
            require_success(namesrv.delete_kv(**entry))


def learns_order(target: Target, topic: str, unique: Callable[[str], str]) -> bool:
    """Let a broker register, and return whether *topic* is an order topic soon.

    A broker may still register with a name server that an earlier test has added to its
    settings. The first response of each registration counts.
    """
    create_topic(target, unique("other"))
    with target.connect_to_broker() as broker:
        return comes_true(lambda: is_ordered(broker, topic), SOON_S)


@pytest.mark.clause("ROUTE-BROKER-013")
def test_a_broker_forgets_the_order_that_nobody_listed(own_target: Target) -> None:
    with own_target.connect_to_namesrv() as namesrv:
        # The list must exist, or its absence proves nothing.
        namesrv.put_kv(namespace=ORDER_TOPIC_NAMESPACE, key="other", value="b:1")
    with own_target.connect_to_broker() as broker:
        require_success(broker.create_topic(topic="ordered", order=True))
    create_topic(own_target, "other")
    with own_target.connect_to_broker() as broker:
        wait_until(
            lambda: not is_ordered(broker, "ordered"),
            what="the topic is no longer ordered at the broker",
            timeout_s=REGISTRATION_S + 15,
        )
