"""Conversions between the lines of an adapter and the reference client's types."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from reference.core.client.message import Message, MessageQueue
from reference.core.client.options import Periods
from reference.core.client.pull.message_ext import MessageExt
from reference.shell.client.identity import client_id
from spec.wire.message.properties import Property

Line = dict[str, Any]
_PERIODS = {
    "route_poll_ms": "route_ms",
    "heartbeat_ms": "heartbeat_ms",
    "persist_ms": "commit_ms",
}

LOCK_MS = 2000
LOCK_LIVES_MS = 10_000
"""Periods announced by hello, shorter than the defaults for a faster suite."""
NO_OFFSET = -1
"""The offset of a group without a committed one."""


class UnsupportedError(Exception):
    """A feature that the client does not have."""


def split_options(
    given: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[dict[str, Any], Periods]:
    """Translate the options in *names*, and separate the periods from them."""
    own = {names[name]: value for name, value in given.items() if name in names}
    periods = {_PERIODS[name]: given[name] for name in given if name in _PERIODS}
    unknown = given.keys() - names.keys() - _PERIODS.keys() - {"instance_name"}
    if unknown:
        raise UnsupportedError(f"no option {', '.join(sorted(unknown))}")
    return own, Periods(lock_ms=LOCK_MS, lock_lives_ms=LOCK_LIVES_MS, **periods)


def client_id_of(command: Mapping[str, Any]) -> str:
    """Return a client id that is unique in this process."""
    instance = command.get("options", {}).get("instance_name")
    if instance is not None:
        return client_id(instance)
    return f"{client_id()}#{command['name']}"


def message_of(line: Mapping[str, Any]) -> Message:
    """Return the message that *line* describes."""
    properties = dict(line.get("properties", {}))
    for name, word in ((Property.TAGS, "tags"), (Property.KEYS, "keys")):
        if word in line:
            properties[name] = line[word]
    if "delay_level" in line:
        properties[Property.DELAY] = str(line["delay_level"])
    if "wait_store" in line:
        properties[Property.WAIT] = "true" if line["wait_store"] else "false"
    return Message(
        topic=line["topic"],
        body=base64.b64decode(line.get("body", "")),
        properties=properties,
        flag=line.get("flag", 0),
    )


def line_of(message: MessageExt) -> Line:
    """Return *message* as a line has it."""
    line = {
        **queue_line(message.queue),
        "topic": message.topic,
        "queue_offset": str(message.record.queue_offset),
        "body": base64.b64encode(message.body).decode(),
        "tags": message.properties.get(Property.TAGS),
        "keys": message.properties.get(Property.KEYS),
        "properties": {str(name): one for name, one in message.properties.items()},
        "reconsume_times": message.record.reconsume_times,
        "message_id": message.message_id,
        "offset_message_id": message.offset_message_id,
    }
    return {name: value for name, value in line.items() if value is not None}


def queue_of(line: Mapping[str, Any]) -> MessageQueue:
    """Return the queue that *line* names."""
    return MessageQueue(line["topic"], line["broker"], line["queue_id"])


def queue_line(queue: MessageQueue) -> Line:
    """Return *queue* as a line has it."""
    return {
        "topic": queue.topic,
        "broker": queue.broker_name,
        "queue_id": queue.queue_id,
    }
