"""Periodic tasks of a client with its default settings."""

from __future__ import annotations

from itertools import pairwise

import pytest

from conformance.client.application import Application
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.timing import expect_about
from spec.wire.remoting.request_code import RequestCode

HEARTBEAT = RequestCode.HEART_BEAT
AT_THE_START_MS = 5000
"""5.x sends more heartbeats as soon as it has a route; others request it again."""
PATIENCE_S = 90.0
"""The C++ client sends the first heartbeat to a broker up to 30 seconds late."""


@pytest.mark.clause("CLIENT-HEARTBEAT-001")
def test_heartbeats_come_every_30_seconds(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    broker = cluster.broker()
    application.producer().send(topic)

    def pauses_ms() -> list[float]:
        """Return the pauses between heartbeats, but for those at the start."""
        found = [one.at_ms for one in broker.requests(HEARTBEAT)]
        return [b - a for a, b in pairwise(found) if b - a > AT_THE_START_MS]

    broker.wait_until(
        lambda: bool(pauses_ms()), what="another heartbeat", timeout_s=PATIENCE_S
    )
    expect_about("CLIENT-HEARTBEAT-001", pauses_ms()[0], 30_000)


@pytest.mark.clause("CLIENT-PUBLISH-009")
def test_a_route_is_requested_again_every_30_seconds(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    cluster.broker()
    server = cluster.name_server
    application.producer().send(topic)

    def later_ms() -> list[float]:
        """Return the times since the first request, but for those at the start."""
        first, *others = (one.at_ms for one in server.route_requests(topic))
        return [at - first for at in others if at - first > AT_THE_START_MS]

    server.wait_until(
        lambda: bool(later_ms()),
        what="another request for the route",
        timeout_s=PATIENCE_S,
    )
    # The period began when the producer was started, just before it sent.
    expect_about("CLIENT-PUBLISH-009", later_ms()[0], 30_000)
