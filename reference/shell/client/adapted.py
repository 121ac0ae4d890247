"""
What the lines of an adapter and the reference client's own words have in common.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from reference.core.client.message import Message, Queue
from reference.core.client.periods import Periods
from reference.core.client.pulling import Received
from reference.shell.client.identity import client_id
from spec.wire.properties import Property

_PERIODS = {
    "route_poll_ms": "route_ms",
    "heartbeat_ms": "heartbeat_ms",
    "persist_ms": "commit_ms",
}

LOCK_MS = 2000
LOCK_LIVES_MS = 10_000
"""What hello tells of: less than applications want, so that a suite need not wait."""
NEVER = -1
"""What is told as the offset of a group that has committed none."""


class UnsupportedError(Exception):
    """The client has no such thing."""


def split_options(
    given: Mapping[str, Any], known: Mapping[str, str]
) -> tuple[dict[str, Any], Periods]:
    """Return the options by their names here, of which *known* tells, and periods."""
    own = {known[name]: value for name, value in given.items() if name in known}
    periods = {_PERIODS[name]: given[name] for name in given if name in _PERIODS}
    unknown = given.keys() - known.keys() - _PERIODS.keys() - {"instance_name"}
    if unknown:
        raise UnsupportedError(f"no option {', '.join(sorted(unknown))}")
    return own, Periods(lock_ms=LOCK_MS, lock_lives_ms=LOCK_LIVES_MS, **periods)


def own_id(asked: Mapping[str, Any]) -> str:
    """Return the id of a client: no two of one process may share it."""
    instance = asked.get("options", {}).get("instance_name")
    if instance is not None:
        address, _, _ = client_id().partition("@")
        return f"{address}@{instance}"
    return f"{client_id()}#{asked['name']}"


def message_of(told: Mapping[str, Any]) -> Message:
    """Return the message that a line describes."""
    properties = dict(told.get("properties", {}))
    for name, word in ((Property.TAGS, "tags"), (Property.KEYS, "keys")):
        if word in told:
            properties[name] = told[word]
    if "delay_level" in told:
        properties[Property.DELAY] = str(told["delay_level"])
    if "wait_store" in told:
        properties[Property.WAIT] = "true" if told["wait_store"] else "false"
    return Message(
        topic=told["topic"],
        body=base64.b64decode(told.get("body", "")),
        properties=properties,
        flag=told.get("flag", 0),
    )


def line_of(message: Received) -> dict[str, object]:
    """Return *message* as a line tells it."""
    told = {
        "topic": message.topic,
        "broker": message.queue.broker_name,
        "queue_id": message.queue.queue_id,
        "queue_offset": str(message.record.queue_offset),
        "body": base64.b64encode(message.body).decode(),
        "tags": message.properties.get(Property.TAGS),
        "keys": message.properties.get(Property.KEYS),
        "properties": {str(name): one for name, one in message.properties.items()},
        "reconsume_times": message.record.reconsume_times,
        "message_id": message.message_id,
        "offset_message_id": message.offset_message_id,
    }
    return {name: value for name, value in told.items() if value is not None}


def queue_of(told: Mapping[str, Any]) -> Queue:
    """Return the queue that a line names."""
    return Queue(told["topic"], told["broker"], told["queue_id"])


def queue_line(queue: Queue) -> dict[str, object]:
    """Return *queue* as a line names it."""
    return {
        "topic": queue.topic,
        "broker": queue.broker_name,
        "queue_id": queue.queue_id,
    }
