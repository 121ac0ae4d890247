"""
Which queues a topic has for a producer, and which for a consumer: read from its route.

A producer wants queues that it may write to, on brokers that have a master; a consumer
queues that it may read, whatever brokers are there. The name server knows neither.
"""

from __future__ import annotations

from dataclasses import replace

from reference.core.client.message import Queue
from spec.routing.route_data import MASTER_ID, TopicRoute
from spec.routing.topic_config import Permission
from spec.wire.producer import QUEUES_OF_A_NEW_TOPIC

VIP_DISTANCE = 2


def publish_queues(topic: str, route: TopicRoute) -> tuple[Queue, ...]:
    """Return the queues of *topic* that a producer may send to, in order."""
    if route.order_topic_config:  # [CLIENT-PUBLISH-008]
        return _ordered_queues(topic, route.order_topic_config)
    found = []
    for data in sorted(route.queue_datas, key=lambda data: data.broker_name):
        if not data.permission & Permission.WRITE:  # [CLIENT-PUBLISH-005]
            continue
        if master_of(data.broker_name, route) is None:  # [CLIENT-PUBLISH-006]
            continue
        numbers = range(data.write_queue_count)  # [CLIENT-PUBLISH-007]
        found += [Queue(topic, data.broker_name, number) for number in numbers]
    return tuple(found)


def subscribe_queues(topic: str, route: TopicRoute) -> tuple[Queue, ...]:
    """Return the queues of *topic* that a consumer may read, sorted."""
    return tuple(
        sorted(
            Queue(topic, data.broker_name, number)
            for data in route.queue_datas
            if data.permission & Permission.READ  # [CLIENT-SUBSCRIBE-001]
            for number in range(data.read_queue_count)
        )
    )


def default_route(
    route: TopicRoute, *, queue_count: int = QUEUES_OF_A_NEW_TOPIC
) -> TopicRoute:
    """Return the default topic's *route* as that of a topic that is still to be made.

    A broker would make it with no more queues than its default topic has, and no more
    than the producer asks for.
    """
    datas = []
    for data in route.queue_datas:
        count = min(queue_count, data.read_queue_count)  # [CLIENT-PUBLISH-003]
        datas.append(replace(data, read_queue_count=count, write_queue_count=count))
    return replace(route, queue_datas=tuple(datas))


def master_of(broker_name: str, route: TopicRoute) -> str | None:
    """Return the address of the master called *broker_name*, if the route has one."""
    data = route.broker(broker_name)
    return None if data is None else data.addresses.get(MASTER_ID)


def vip_address(address: str) -> str:
    """Return where the broker at *address* listens for producers that ask for it."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) - VIP_DISTANCE}"  # [CLIENT-SEND-010]


def _ordered_queues(topic: str, text: str) -> tuple[Queue, ...]:
    """Return the queues of an order topic, whose configuration names them all."""
    pairs = [pair.split(":") for pair in text.split(";") if pair]
    return tuple(
        Queue(topic, pair[0], number)
        for pair in pairs
        for number in range(int(pair[1]))
    )
