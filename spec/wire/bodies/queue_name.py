"""
A queue is named by its topic, its broker and its queue id in every body.

fastjson writes the name as an object, even as a key of a map. That is the one place in
which RocketMQ's bodies are not JSON for other readers.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.wire.bodies.json_body import INTEGER, TEXT, Kind, member, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueName:
    """Name of a queue (Java: MessageQueue)."""

    broker_name: str | None = member("brokerName", TEXT, "its broker", default=None)
    queue_id: int = member("queueId", INTEGER, "its number in the topic", default=0)
    topic: str | None = member("topic", TEXT, "its topic", default=None)


QUEUE_NAME: Kind = object_of(QueueName)
