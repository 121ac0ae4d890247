"""For how long a producer with a table of faults passes over a broker that was slow."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event

import pytest

from conformance.client.application import Application
from conformance.client.producer.sends import meet_sends, two_brokers
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, each
from conformance.client.timing import expect_about

SLOW_S = 0.65
"""A response that takes so long is worth the shortest time away."""
PAUSE_S = 0.1
SENDS_MAX = 1000
AWAY_MS = {550: 30_000, 1000: 60_000, 2000: 120_000}
AWAY_SINCE_5_1_4_MS = {550: 2000, 1800: 5000, 3000: 6000}
"""From which time of a send on its broker gets no more, for how long."""


@pytest.mark.clause("CLIENT-FAULT-002")
def test_a_slow_broker_is_passed_over_for_30_seconds(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    expect_away("CLIENT-FAULT-002", application, cluster, topic, AWAY_MS)


@pytest.mark.clause("CLIENT-FAULT-003")
def test_a_slow_broker_is_passed_over_for_2_seconds(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    expect_away("CLIENT-FAULT-003", application, cluster, topic, AWAY_SINCE_5_1_4_MS)


def expect_away(
    clause_id: str,
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    away_ms: Mapping[int, int],
) -> None:
    """Fail *clause_id* unless a broker that was slow once gets nothing for so long."""
    application.need("latency")
    slow, _ = two_brokers(cluster, topic)

    def respond_late(request: ReceivedRequest) -> None:
        Event().wait(SLOW_S)
        slow.store(request)

    meet_sends(slow, each(respond_late, slow.store))
    producer = application.producer(latency=True, retries=0)
    ended_ms = took_ms = 0.0
    for _ in range(SENDS_MAX):
        count = len(slow.sends)
        sending = producer.begin(topic)
        sending.outcome()
        if not count and slow.sends:
            ended_ms = sending.done_at_ms()
            took_ms = ended_ms - slow.sends[0].at_ms
        if len(slow.sends) > 1:
            break
        Event().wait(PAUSE_S)
    (wanted_ms,) = [ms for least, ms in away_ms.items() if least <= took_ms][-1:]
    expect_about(clause_id, slow.sends[1].at_ms - ended_ms, wanted_ms)
