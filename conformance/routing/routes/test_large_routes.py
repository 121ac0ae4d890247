"""A name server of a large installation: ten thousand topics, sixteen brokers each."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.routing.fake_broker import FakeCluster
from spec.routing.cluster_info import decode_topic_list
from spec.routing.route_data import TopicRoute
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.heavy

TOPICS = 10_000
BROKERS = 16
LOOKED_AT = 97
"""Stride of the topics whose routes are compared."""
TIMEOUT_S = 60.0


def topics_of(prefix: str) -> list[TopicConfig]:
    """Return topics that differ in their queue counts."""
    return [
        TopicConfig(
            topic=f"{prefix}_{number}",
            read_queue_count=1 + number % 7,
            write_queue_count=1 + number % 5,
        )
        for number in range(TOPICS)
    ]


def registered(
    fake_cluster: FakeCluster, topics: list[TopicConfig], *, compressed: bool
) -> set[str]:
    """Let all brokers register *topics*; return the brokers' names."""
    version = DataVersion(timestamp_ms=1_600_000_000_000, counter=1)
    table = TopicTable.of(*topics, version=version)
    # Encoded once: every broker has the same, and the names differ in the header.
    body = fake_cluster.broker().encode(table, compressed=compressed)
    cluster = fake_cluster.unique("cluster")
    names = set()
    for _ in range(BROKERS):
        broker = fake_cluster.broker(cluster=cluster)
        fields = broker.fields(body, compressed=compressed)
        code = RequestCode.REGISTER_BROKER
        command = Command(code=code, fields=fields, body=body)
        response = broker.peer.request(command, timeout_s=TIMEOUT_S)
        clause = "ROUTE-REG-002" if compressed else "ROUTE-REG-001"
        expect_code(clause, response, ResponseCode.SUCCESS, broker.peer.transcript)
        names.add(broker.name)
    return names


def counts(route: TopicRoute | None, names: set[str]) -> tuple[bool, set[object]]:
    """Return whether a route has just these brokers, and their queue counts."""
    if route is None:
        return False, set()
    queues = {(q.read_queue_count, q.write_queue_count) for q in route.queue_datas}
    brokers = [queue.broker_name for queue in route.queue_datas]
    return sorted(brokers) == sorted(names), set(queues)


@pytest.mark.clause(
    "ROUTE-DATA-001", "ROUTE-LIST-001", "ROUTE-REG-001", "ROUTE-REG-002"
)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_ten_thousand_topics_have_sixteen_brokers_each(
    fake_cluster: FakeCluster, compressed: bool
) -> None:
    topics = topics_of(fake_cluster.unique("topic"))
    names = registered(fake_cluster, topics, compressed=compressed)
    for topic in topics[::LOOKED_AT]:
        expect(
            "ROUTE-DATA-001",
            found=counts(fake_cluster.route(topic.topic), names),
            expected=(True, {(topic.read_queue_count, topic.write_queue_count)}),
            what="route has every broker, read and write queues",
            transcript=fake_cluster.client.transcript,
        )
    code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
    response = fake_cluster.client.peer.request(Command(code=code), timeout_s=TIMEOUT_S)
    listed = set(decode_topic_list(response.body).topics)
    expect(
        "ROUTE-LIST-001",
        found=[topic.topic for topic in topics if topic.topic not in listed],
        expected=[],
        what="topics that are not listed",
        transcript=fake_cluster.client.transcript,
    )
