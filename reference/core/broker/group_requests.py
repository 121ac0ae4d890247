"""
Configuring consumer groups, and asking how they are doing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.broker.clients import Client
from reference.core.broker.subscription_groups import SubscriptionGroup
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker


def update_group(broker: Broker, request: Request) -> Answer:
    """Create a group's configuration or change it."""
    value = fastjson.loads(request.body)
    if isinstance(value, dict):
        group = SubscriptionGroup.from_json(value)
        broker.groups.update(group, request.now_ms)  # [ADMIN-GROUP-001]
    return Answer()


def delete_group(broker: Broker, request: Request) -> Answer:
    """Forget a group's configuration."""
    broker.groups.delete(request.text("groupName"), request.now_ms)
    return Answer()


def all_groups(broker: Broker, _: Request) -> Answer:
    """Answer the whole table of groups."""
    return Answer(body=fastjson.dumps(broker.groups.as_json()))


def all_consumer_offsets(broker: Broker, _: Request) -> Answer:
    """Answer the whole table of consumer offsets."""
    return Answer(body=fastjson.dumps(broker.offsets.as_json()))  # [ADMIN-STATS-003]


def consumer_connections(broker: Broker, request: Request) -> Answer:
    """List the members of a consumer group, and what they want."""
    name = request.text("consumerGroup")
    group = broker.clients.consumers.get(name)
    if group is None:
        return refusal(
            # [GROUP-CONNECTION-002]
            ResponseCode.CONSUMER_NOT_ONLINE,
            f"the consumer group[{name}] not online",
        )
    wanted = {t: wants.as_json() for t, wants in group.subscriptions.items()}
    body = {
        # [GROUP-CONNECTION-001] [GROUP-CONNECTION-101]
        "connectionSet": _connections(broker, group.members.values()),
        "consumeFromWhere": group.consume_from,
        "consumeType": group.consume_type,
        "messageModel": group.message_model,
        "subscriptionTable": wanted,
    }
    return Answer(body=fastjson.dumps(body))


def producer_connections(broker: Broker, request: Request) -> Answer:
    """List the members of a producer group."""
    name = request.text("producerGroup")
    members = broker.clients.producers.get(name)
    if members is None:  # [GROUP-CONNECTION-004]
        return refusal(SYSTEM_ERROR, f"the producer group[{name}] not exist")
    # [GROUP-CONNECTION-003]
    body = {"connectionSet": _connections(broker, members.values())}
    return Answer(body=fastjson.dumps(body))


def consume_stats(broker: Broker, request: Request) -> Answer:
    """Answer how far a group is in each queue, and where the queue ends."""
    group = request.text("consumerGroup")
    asked = (request.optional_text("topic") or "").strip()
    topics = [asked] if asked else broker.offsets.topics_of(group)
    table = {}
    for name in topics:
        topic = broker.topics.get(name)
        if topic is None or not may_consume(broker, group, name):
            continue
        for queue_id in range(topic.read_queue_count):
            key = broker.queue_key(name, queue_id)
            # [ADMIN-STATS-002]
            table[key] = progress(broker, group, name, queue_id).as_json()
    rate = sum(broker.traffic.got_per_second(group, name) for name in topics)
    body = {"consumeTps": rate, "offsetTable": table}
    return Answer(body=fastjson.dumps(body))


def clone_offsets(broker: Broker, request: Request) -> Answer:
    """Let one group be as far as another is."""
    source, target = request.text("srcGroup"), request.text("destGroup")
    topic = (request.optional_text("topic") or "").strip()
    # [OFFSET-CLONE-002]
    if broker.topics.get(topic) is not None and (
        request.truth("offline") or may_consume(broker, source, topic)
    ):
        broker.offsets.clone(source, target, topic)  # [OFFSET-CLONE-001]
    return Answer()


def may_consume(broker: Broker, group: str, topic: str) -> bool:
    """Return whether the group wants the topic, as far as is known."""
    members = broker.clients.consumers.get(group)
    if members is None or not members.subscriptions:
        return True
    return topic in members.subscriptions


class Progress(NamedTuple):
    """How far a group is in a queue."""

    end: int
    consumed: int
    at_ms: int
    """When what it consumed last was stored; 0 for nothing."""

    @property
    def left(self) -> int:
        """How many messages it has before it."""
        return self.end - self.consumed

    def as_json(self) -> dict[str, object]:
        """Return it as the answer to tools spells it."""
        return {
            "brokerOffset": self.end,
            "consumerOffset": self.consumed,
            "lastTimestamp": self.at_ms,
        }


def progress(broker: Broker, group: str, topic: str, queue_id: int) -> Progress:
    """Return how far *group* is in a queue."""
    consumed = max(broker.offsets.query(group, topic, queue_id), 0)
    at_ms = broker.store.stored_at(topic, queue_id, consumed - 1) if consumed else 0
    return Progress(
        max(broker.store.max_offset(topic, queue_id), 0), consumed, max(at_ms, 0)
    )


def _connections(broker: Broker, clients: Iterable[Client]) -> list[dict[str, object]]:
    return [
        {
            "clientAddr": str(broker.connections[client.connection].remote),
            "clientId": client.client_id,
            "language": client.language,
            "version": client.version,
        }
        for client in clients
    ]
