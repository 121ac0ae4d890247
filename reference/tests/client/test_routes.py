"""Queues of a route, for producers and for consumers."""

from __future__ import annotations

from dataclasses import replace

from reference.core.client.message import MessageQueue
from reference.core.client.routes import (
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
from spec.routing.route_data import TopicRoute


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
