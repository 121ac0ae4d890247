"""
A queue is named by its topic, its broker and its number, wherever a body names one.

fastjson writes the name as an object, also where it is a key of a map: that is the one
place where RocketMQ's bodies are no JSON for other readers.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.wire.json_body import INTEGER, TEXT, Kind, member, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueName:
    """Which queue (Java: MessageQueue)."""

    broker_name: str | None = member("brokerName", TEXT, "its broker", default=None)
    queue_id: int = member("queueId", INTEGER, "its number in the topic", default=0)
    topic: str | None = member("topic", TEXT, "its topic", default=None)


QUEUE_NAME: Kind = object_of(QueueName)
