"""
A queue is named by its topic, its broker and its queue id in every body.

fastjson writes the name as an object, even as a key of a map. That is the one place in
which RocketMQ's bodies are not JSON for other readers.
"""

from __future__ import annotations

from typing import Annotated

from spec.wire.bodies.json_body import Body, Member


class QueueName(Body, frozen=True, kw_only=True):
    """Name of a queue (Java: MessageQueue)."""

    broker_name: Annotated[str | None, Member("brokerName", "its broker")] = None
    queue_id: Annotated[int, Member("queueId", "its number in the topic")] = 0
    topic: Annotated[str | None, Member("topic", "its topic")] = None
