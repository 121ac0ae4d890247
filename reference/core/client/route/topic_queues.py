"""
Queues of a topic for a producer and for a consumer, derived from its route.

A producer uses queues with PERM_WRITE on brokers with a master. A consumer uses queues
with PERM_READ. Name servers apply neither rule.
"""

from __future__ import annotations

from dataclasses import replace

from reference.core.client.message import MessageQueue
from spec.routing.route_data import MASTER_ID, TopicRoute
from spec.routing.topic_config import Permission
from spec.wire.producer.producer import QUEUES_OF_A_NEW_TOPIC
from spec.wire.remoting.connection import VIP_PORT_DISTANCE


def publish_queues(topic: str, route: TopicRoute) -> tuple[MessageQueue, ...]:
    """Return the writable queues of *topic* in order (Java: TopicPublishInfo)."""
    if route.order_topic_config:  # [CLIENT-PUBLISH-008]
        return _ordered_queues(topic, route.order_topic_config)
    found = []
    for data in sorted(route.queue_datas, key=lambda data: data.broker_name):
        if not data.permission & Permission.WRITE:  # [CLIENT-PUBLISH-005]
            continue
        broker = route.broker(data.broker_name)
        if broker is None or MASTER_ID not in broker.addresses:
            continue  # [CLIENT-PUBLISH-006]
        numbers = range(data.write_queue_count)  # [CLIENT-PUBLISH-007]
        found += [MessageQueue(topic, data.broker_name, number) for number in numbers]
    return tuple(found)


def subscribe_queues(topic: str, route: TopicRoute) -> tuple[MessageQueue, ...]:
    """Return the readable queues of *topic*, sorted."""
    return tuple(
        sorted(
            MessageQueue(topic, data.broker_name, number)
            for data in route.queue_datas
            if data.permission & Permission.READ  # [CLIENT-SUBSCRIBE-001]
            for number in range(data.read_queue_count)
        )
    )


def default_route(
    route: TopicRoute, *, queue_count: int = QUEUES_OF_A_NEW_TOPIC
) -> TopicRoute:
    """Return the route of a topic to create, derived from the default topic's *route*.

    A broker creates it with the smaller of two counts: the default topic's queues, and
    the producer's setting.
    """
    datas = []
    for data in route.queue_datas:
        count = min(queue_count, data.read_queue_count)  # [CLIENT-PUBLISH-003]
        datas.append(replace(data, read_queue_count=count, write_queue_count=count))
    return replace(route, queue_datas=tuple(datas))


def vip_address(address: str) -> str:
    """Return the VIP address of the broker at *address*: its port less 2."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) - VIP_PORT_DISTANCE}"  # [CLIENT-SEND-010]


def _ordered_queues(topic: str, text: str) -> tuple[MessageQueue, ...]:
    pairs = [pair.split(":") for pair in text.split(";") if pair]
    return tuple(
        MessageQueue(topic, pair[0], number)
        for pair in pairs
        for number in range(int(pair[1]))
    )
