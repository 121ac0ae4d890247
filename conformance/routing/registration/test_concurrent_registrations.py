"""Brokers that register and unregister at the same moment do not lose each other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeBroker, FakeCluster
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

BROKERS = 16
ROUNDS = 10
TIMEOUT_S = 30.0


def at_once(
    brokers: list[FakeBroker], act: Callable[[FakeBroker], list[Command]]
) -> set[int]:
    """Let every broker *act* in a thread of its own; return the responses' codes."""
    barrier = Barrier(len(brokers))

    def begin(broker: FakeBroker) -> list[Command]:
        barrier.wait(TIMEOUT_S)
        return act(broker)

    with ThreadPoolExecutor(len(brokers)) as pool:
        return {
            response.code
            for responses in pool.map(begin, brokers)
            for response in responses
        }


def registered_at_once(
    fake_cluster: FakeCluster, topic: str, *, one_cluster: bool
) -> list[FakeBroker]:
    """Return brokers that each registered *topic* repeatedly, concurrently."""
    cluster = fake_cluster.unique("cluster") if one_cluster else None
    brokers = [fake_cluster.broker(cluster=cluster) for _ in range(BROKERS)]

    def register(broker: FakeBroker) -> list[Command]:
        return [
            broker.register(TopicConfig(topic=topic, write_queue_count=count))
            for count in range(1, ROUNDS + 1)
        ]

    codes = at_once(brokers, register)
    assert codes == {ResponseCode.SUCCESS}, codes
    return brokers


def queues_in_route(fake_cluster: FakeCluster, topic: str) -> dict[str, int]:
    """Return the write queues of each broker in the route of *topic*."""
    route = fake_cluster.route(topic)
    queues = route.queue_datas if route else ()
    return {queue.broker_name: queue.write_queue_count for queue in queues}


@pytest.mark.clause("ROUTE-REG-001", "ROUTE-REG-019")
@pytest.mark.parametrize("one_cluster", [True, False], ids=["one", "many"])
def test_brokers_that_register_at_once_are_all_in_the_route(
    fake_cluster: FakeCluster, one_cluster: bool
) -> None:
    topic = fake_cluster.unique("topic")
    brokers = registered_at_once(fake_cluster, topic, one_cluster=one_cluster)
    expect(
        "ROUTE-REG-019",
        found=queues_in_route(fake_cluster, topic),
        expected={broker.name: ROUNDS for broker in brokers},
        what="write queues by broker, each as it registered last",
        transcript=fake_cluster.client.transcript,
    )
    own = {
        broker.name: queues_in_route(fake_cluster, broker.name) for broker in brokers
    }
    expect(
        "ROUTE-REG-001",
        found=own,
        expected={broker.name: {broker.name: 1} for broker in brokers},
        what="write queues in the route of each broker's own topic",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-001", "ROUTE-LIVENESS-003")
def test_brokers_that_leave_at_once_leave_the_others(fake_cluster: FakeCluster) -> None:
    topic = fake_cluster.unique("topic")
    brokers = registered_at_once(fake_cluster, topic, one_cluster=True)
    leaving, staying = brokers[::2], brokers[1::2]

    def change(broker: FakeBroker) -> list[Command]:
        if broker in leaving:
            return [broker.unregister()]
        return [broker.register(TopicConfig(topic=topic)) for _ in range(ROUNDS)]

    codes = at_once(brokers, change)
    assert codes == {ResponseCode.SUCCESS}, codes
    for broker in leaving:
        fake_cluster.wait_until_gone(broker)
    gone = {broker.name for broker in leaving}
    wait_until(
        lambda: not gone & set(queues_in_route(fake_cluster, topic)),
        what="the brokers that left are in no route",
    )
    expect(
        "ROUTE-LIVENESS-003",
        found=sorted(queues_in_route(fake_cluster, topic)),
        expected=sorted(broker.name for broker in staying),
        what="brokers in the route",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-LIVENESS-001",
        found=[name for name in gone if fake_cluster.route(name) is not None],
        expected=[],
        what="routes of the own topics of brokers that left",
        transcript=fake_cluster.client.transcript,
    )
