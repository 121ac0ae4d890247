"""A client under test, and conversions between its types and an adapter's lines."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from reference.core.client.message import Message, MessageQueue
from reference.core.client.options import Periods
from reference.core.client.pull.message_ext import MessageExt
from reference.shell.client.identity import client_id
from reference.shell.client.running_client import RunningClient
from reference.shell.tls import (
    OWN_CERTIFICATE,
    OWN_KEY,
    TRUSTED_SERVERS,
    VERIFIES_SERVER,
    client_context,
)
from spec.security.signature import Credentials
from spec.security.tls import CLIENT_USES_TLS
from spec.wire.message.properties import Property

Line = dict[str, Any]
Emit = Callable[[Line], None]
"""Writes the line of an event."""
_PERIODS = {
    "route_poll_ms": "route_ms",
    "heartbeat_ms": "heartbeat_ms",
    "persist_ms": "commit_ms",
}
_TLS = {"trust": TRUSTED_SERVERS, "certificate": OWN_CERTIFICATE, "key": OWN_KEY}
_ALWAYS = {"instance_name", "credentials", "tls"} | _PERIODS.keys()

LOCK_MS = 2000
LOCK_LIVES_MS = 10_000
"""Periods announced by hello, shorter than the defaults for a faster suite."""
NO_OFFSET = -1
"""The offset of a group without a committed one."""


class UnsupportedError(Exception):
    """A feature that the client does not have."""


class AdaptedClient:
    """A client under test, which runs the commands with its name."""

    def __init__(self, command: Line, client: RunningClient[Any], emit: Emit) -> None:
        self._name = command["name"]
        self._running = client
        self._emit = emit

    async def start(self) -> None:
        """Start the client."""
        await self._running.__aenter__()

    async def stop(self) -> None:
        """Stop the client."""
        await self._running.__aexit__()

    async def run(self, command: Line) -> Line:
        """Run a command, and return its result."""
        raise UnsupportedError(f"no {command['verb']} of this client")


def options_of(
    command: Line, names: Mapping[str, str], *read_apart: str
) -> dict[str, Any]:
    """Translate the options of a command, and those that every client has.

    *names* are the names of its own options; the caller reads those *read_apart*. The
    client id is unique in this process, unless the command names an instance.
    """
    given = command.get("options", {})
    unknown = given.keys() - names.keys() - _ALWAYS - {*read_apart}
    if unknown:
        raise UnsupportedError(f"no option {', '.join(sorted(unknown))}")
    instance = given.get("instance_name")
    unique = f"{client_id()}#{command['name']}"
    keys = given.get("credentials")
    periods = {_PERIODS[name]: given[name] for name in given if name in _PERIODS}
    return {
        "group": command["group"],
        "client_id": unique if instance is None else client_id(instance),
        "credentials": None if keys is None else Credentials(**keys),
        "periods": Periods(lock_ms=LOCK_MS, lock_lives_ms=LOCK_LIVES_MS, **periods),
        **{names[name]: value for name, value in given.items() if name in names},
    }


def tls_of(command: Line) -> ssl.SSLContext | None:
    """Return the TLS of a command's client; None without the option."""
    given = command.get("options", {}).get("tls")
    if given is None:
        return None
    unknown = given.keys() - _TLS.keys()
    if unknown:
        raise UnsupportedError(f"no option {', '.join(sorted(unknown))} of TLS")
    settings = {_TLS[name]: file for name, file in given.items()}
    verifies = str("trust" in given).lower()
    return client_context(
        {CLIENT_USES_TLS: "true", VERIFIES_SERVER: verifies, **settings}
    )


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
