"""Queues of a route, for producers and for consumers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.core.client.message import MessageQueue
from reference.core.client.routes import (
    QUEUES_MAX,
    publish_queues,
    subscribe_queues,
    vip_address,
)
from reference.tests.client.routes import (
    READ,
    WRITE,
    broker_data,
    queue_data,
    queues_of,
    route_of,
)
from reference.tests.client.world import World
from spec.integers import INT32_MAX
from spec.routing.route_data import BrokerData, TopicRoute


def test_a_producer_has_the_queues_of_every_broker_by_name() -> None:
    assert list(publish_queues("T", route_of("b", "a", count=2))) == queues_of("a", "b")


def test_a_consumer_needs_the_read_bit() -> None:
    route = TopicRoute(
        queue_datas=(queue_data("r", 1, READ), queue_data("w", 1, WRITE)),
        broker_datas=(broker_data("r"), broker_data("w")),
    )
    assert subscribe_queues("T", route) == (MessageQueue("T", "r", 0),)


def test_a_producer_needs_a_master_and_a_consumer_none() -> None:
    route = TopicRoute(
        queue_datas=(queue_data("slave", 1), queue_data("gone", 1)),
        broker_datas=(broker_data("slave", 1),),
    )
    assert publish_queues("T", route) == ()
    assert len(subscribe_queues("T", route)) == 2


def test_read_and_write_counts_are_each_for_one_side() -> None:
    data = replace(queue_data("a"), read_queue_count=1, write_queue_count=3)
    route = TopicRoute(queue_datas=(data,), broker_datas=(broker_data("a"),))
    assert len(publish_queues("T", route)) == 3
    assert len(subscribe_queues("T", route)) == 1


def test_the_vip_port_is_two_below() -> None:
    assert vip_address("127.0.0.1:10911") == "127.0.0.1:10909"
    assert vip_address("[::1]:10911") == "[::1]:10909"


def test_a_broker_has_the_addresses_of_the_newest_route() -> None:
    """The topic of the older route was deleted before its broker moved."""
    world = World()
    for topic, host in (("Deleted", "old"), ("T", "old"), ("T", "new")):
        route = route_of("a")
        moved = BrokerData(cluster="C", broker_name="a", addresses={0: f"{host}:1"})
        world.begin(world.routes.fetch(topic))
        world.give_route(replace(route, broker_datas=(moved,)))
    assert world.routes.address("a") == "new:1"
    assert world.routes.brokers() == ["new:1"]


@pytest.mark.parametrize("order", ["a", "a:", "a:x", "a:4;b", "a:" + "9" * 5_000])
def test_a_route_with_malformed_order_is_none(order: str) -> None:
    world = World()
    world.routes.table["T"] = route_of("a")
    call = world.begin(world.routes.fetch("T"))
    world.give_route(replace(route_of("b"), order_topic_config=order))
    assert world.finished[call] is None
    assert world.routes.table["T"] == route_of("a")


@pytest.mark.parametrize("order", [None, f"a:{INT32_MAX}", f"a:{QUEUES_MAX};b:1"])
def test_a_route_with_too_many_queues_is_none(order: str | None) -> None:
    world = World()
    call = world.begin(world.routes.fetch("T"))
    count = 1 if order else INT32_MAX
    world.give_route(replace(route_of("a", count=count), order_topic_config=order))
    assert world.finished[call] is None


def test_a_route_with_negative_counts_has_no_queues() -> None:
    world = World()
    call = world.begin(world.routes.fetch("T"))
    route = replace(route_of("a", count=-1), order_topic_config="a:-5")
    world.give_route(route)
    assert world.finished[call] == route
    assert publish_queues("T", route) == subscribe_queues("T", route) == ()
