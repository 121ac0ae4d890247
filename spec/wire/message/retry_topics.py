"""
A message that a group could not consume comes back in the group's own retry topic.

A consumer sends it back, or sends it to the retry topic when that fails. It is then
delayed, and delivered to the group alone. After too many attempts it goes to the
group's dead letter topic, which no consumer reads by default.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.layout import LayoutError
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX

FIRST_RETRY_LEVEL = 3
"""Delay level of a first retry for which the consumer names none; then one more."""


def retry_topic(group: str) -> str:
    """Return the topic of the messages that *group* will be handed again."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """Return the topic of the messages that *group* is not handed any more."""
    return DLQ_PREFIX + group


def group_of(topic: str) -> str | None:
    """Return the group whose retries or dead letters *topic* holds, if it does."""
    for prefix in (RETRY_PREFIX, DLQ_PREFIX):
        if topic.startswith(prefix):
            return topic.removeprefix(prefix)
    return None


def retry_level(requested_level: int, *, reconsume_times: int) -> int | None:
    """Return the delay level of a message that is sent back, or None for the DLQ.

    A *requested_level* of 0 leaves the level to the broker; a negative one means DLQ.
    """
    if reconsume_times < 0:
        raise LayoutError(f"{reconsume_times} deliveries")
    if requested_level < 0:
        return None
    return requested_level or FIRST_RETRY_LEVEL + reconsume_times


def handed_back(
    properties: Mapping[str, str], *, topic: str, message_id: str
) -> dict[str, str]:
    """Return the *properties* that a message of *topic* has after it was handed back.

    The first topic and the first message id stay, however often that happens.
    """
    first = properties.get(Property.ORIGIN_MESSAGE_ID) or message_id
    return {
        **properties,
        Property.RETRY_TOPIC: properties.get(Property.RETRY_TOPIC, topic),
        Property.ORIGIN_MESSAGE_ID: first,
    }
