"""Messages of the C++ client, from and to the objects in lines."""

from __future__ import annotations

import base64
from typing import Any

from rocketmq.client import Message
from rocketmq.ffi import dll

from conformance.client.adapters.cpp import library
from conformance.client.adapters.template import Line


def made(line: Line) -> Any:
    """Return the message that *line* describes."""
    message = Message(line["topic"])
    handle = message._handle
    if "body" in line:
        body = base64.b64decode(line["body"])
        dll.SetByteMessageBody(handle, body, len(body))
    if "tags" in line:
        message.set_tags(line["tags"])
    if "keys" in line:
        message.set_keys(line["keys"])
    for name, value in line.get("properties", {}).items():
        message.set_property(name, value)
    if "delay_level" in line:
        message.set_delay_time_level(line["delay_level"])
    if "wait_store" in line:
        library.set_wait_store(handle, line["wait_store"])
    if "flag" in line:
        library.set_flag(handle, line["flag"])
    return message


def shown(message: Any) -> Line:
    """Return a received message as lines contain it; it has no broker's name."""
    handle = message._handle
    properties = library.properties_of(handle)
    return {
        "topic": message.topic,
        "queue_id": message.queue_id,
        "queue_offset": str(message.queue_offset),
        "body": base64_text(library.body_of(handle)),
        "tags": properties.get("TAGS"),
        "keys": properties.get("KEYS"),
        "properties": properties,
        "reconsume_times": message.reconsume_times,
        "message_id": message.id,
        "offset_message_id": library.offset_id_of(handle),
    }


def base64_text(body: bytes) -> str:
    """Return *body* as lines contain it."""
    return base64.b64encode(body).decode()
