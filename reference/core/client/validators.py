"""
Checks of topics, groups and messages before anything is sent (Java: Validators).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reference.core.client.message import Message
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import DEFAULT_TOPIC, RETRY_PREFIX
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send_limits import MESSAGE_SIZE_MAX

NAME_LENGTH_MAX = 255
"""Limit of 4.6.0 clients for topics and groups; brokers store 127 at most."""

_NAME = re.compile(r"[%|a-zA-Z0-9_-]+")
_WAITS = "true"


def check_name(kind: str, name: str) -> None:
    """Raise ClientError for an illegal name of a topic or a group."""
    if not name.strip():
        raise _illegal(f"the {kind} is blank")
    if not _NAME.fullmatch(name):  # [CLIENT-VALIDATE-004]
        raise _illegal(f"the {kind} {name!r} has other characters than A-Za-z0-9%|_-")
    if len(name) > NAME_LENGTH_MAX:  # [CLIENT-VALIDATE-005]
        raise _illegal(f"the {kind} has {len(name)} characters, {NAME_LENGTH_MAX} may")


def check_topic(topic: str) -> None:
    """Raise ClientError for an illegal topic."""
    check_name("topic", topic)
    if topic == DEFAULT_TOPIC:  # [CLIENT-VALIDATE-007]
        raise _illegal(f"{topic} is reserved for the creation of topics")


def check_message(message: Message, *, body_size_max: int = MESSAGE_SIZE_MAX) -> None:
    """Raise ClientError for an illegal message."""
    check_topic(message.topic)
    check_body(message.body, body_size_max=body_size_max)


def check_body(body: bytes, *, body_size_max: int = MESSAGE_SIZE_MAX) -> None:
    """Raise ClientError for an illegal body of a message or of a batch."""
    size = len(body)
    if not size:  # [CLIENT-VALIDATE-002]
        raise _illegal("the body is empty", ResponseCode.MESSAGE_ILLEGAL)
    if size > body_size_max:  # [CLIENT-VALIDATE-003]
        remark = f"the body has {size} bytes, {body_size_max} may"
        raise _illegal(remark, ResponseCode.MESSAGE_ILLEGAL)


def check_batch(
    messages: Sequence[Message], *, body_size_max: int = MESSAGE_SIZE_MAX
) -> None:
    """Raise ClientError for an illegal batch."""
    if not messages:
        raise _illegal("the batch is empty")
    first = messages[0]
    for message in messages:
        check_message(message, body_size_max=body_size_max)
        if message.topic.startswith(RETRY_PREFIX):  # [CLIENT-BATCH-001]
            raise _illegal("a batch cannot go to a retry topic")
        if int(message.properties.get(Property.DELAY, "0")) > 0:
            raise _illegal("a message of a batch cannot be delayed")
        if message.topic != first.topic:
            raise _illegal(f"a batch to both {first.topic} and {message.topic}")
        if waits(message) != waits(first):
            raise _illegal("the messages of the batch differ in waiting for the store")


def waits(message: Message) -> bool:
    """Return whether the response waits for flush and replication."""
    return message.properties.get(Property.WAIT, _WAITS).lower() == _WAITS


def _illegal(remark: str, code: int | None = None) -> ClientError:
    return ClientError(Failure(reason=Reason.ILLEGAL, code=code, remark=remark))
