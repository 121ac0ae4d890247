"""Registrations of a broker that may not be read or written."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.pytest_plugin.known_settings import changed
from conformance.harness.targets.target import Target
from spec.routing.route_data import QueueData, decode_route
from spec.routing.topic_config import Permission, TopicFlag


def _queues(namesrv: Client, target: Target, topic: str) -> QueueData | None:
    """Return the queues of *topic* on the target's broker, from the route."""
    route = decode_route(require_success(namesrv.route(topic)).body)
    return route.queues_of(target.broker_name)


@pytest.mark.clause("ROUTE-OUTERAPI-015")
def test_the_brokers_permission_is_registered(configurable_target: Target) -> None:
    target, topic = configurable_target, unique_name("topic")
    with target.connect_to_broker() as broker, target.connect_to_namesrv() as namesrv:
        require_success(
            broker.create_topic(
                topic=topic,
                permissions=int(Permission.READ),
                system_flags=int(TopicFlag.UNIT),
            )
        )
        namesrv.wait_for_route(topic)
        before = _queues(namesrv, target, topic)
        with changed(broker, brokerPermission=str(int(Permission.WRITE))):
            wait_until(
                lambda: _queues(namesrv, target, topic) != before,
                what="the change is registered",
            )
            after = _queues(namesrv, target, topic)
    assert after is not None
    expect(
        "ROUTE-OUTERAPI-015",
        found=(after.permission, after.topic_flags),
        expected=(Permission.WRITE, 0),
        what="perm and topicSynFlag of the route",
        transcript=namesrv.transcript,
    )
