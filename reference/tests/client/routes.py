"""Routes and messages for tests of the client."""

from __future__ import annotations

from reference.core.client.message import MessageQueue
from spec.routing.route_data import BrokerData, QueueData, TopicRoute

READ, WRITE = 4, 2


def queue_data(name: str, count: int = 4, permission: int = READ | WRITE) -> QueueData:
    """Return the queues of a topic at the broker *name*."""
    return QueueData(
        broker_name=name,
        read_queue_count=count,
        write_queue_count=count,
        permission=permission,
    )


def broker_data(name: str, *ids: int) -> BrokerData:
    """Return addresses of the brokers *ids* of *name*, by default a master."""
    addresses = {one: f"{name}:{10911 + 10 * one}" for one in ids or (0,)}
    return BrokerData(cluster="C", broker_name=name, addresses=addresses)


def route_of(*names: str, count: int = 4) -> TopicRoute:
    """Return a route to masters called *names*, each with *count* queues."""
    return TopicRoute(
        queue_datas=tuple(queue_data(name, count) for name in names),
        broker_datas=tuple(broker_data(name) for name in names),
    )


def queues_of(*names: str, count: int = 2, topic: str = "T") -> list[MessageQueue]:
    """Return queues of *topic*, *count* of each of the brokers *names*."""
    return [
        MessageQueue(topic, name, number) for name in names for number in range(count)
    ]
