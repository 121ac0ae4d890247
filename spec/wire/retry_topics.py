"""
A message that a group could not consume comes back in the group's own retry topic.

A consumer hands it back, or sends it anew when that fails. Either way it waits for its
time as a delayed message does, is delivered to the group alone, and after too many
tries goes to the group's dead letters, which nobody consumes by himself.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.layout import LayoutError
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX
from spec.wire.properties import Property

FIRST_RETRY_LEVEL = 3
"""Delay level of a first retry for which the consumer names none; then one more."""
RETRIES_DEFAULT = 16
DEAD_LETTER_QUEUE_COUNT = 1


def retry_topic(group: str) -> str:
    """Return the topic of the messages that *group* will be handed again."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """Return the topic of the messages that *group* is not handed any more."""
    return DEAD_LETTER_PREFIX + group


def group_of(topic: str) -> str | None:
    """Return the group whose retries or dead letters *topic* holds, if it does."""
    for prefix in (RETRY_PREFIX, DEAD_LETTER_PREFIX):
        if topic.startswith(prefix):
            return topic.removeprefix(prefix)
    return None


def retry_level(asked: int, *, reconsume_times: int) -> int | None:
    """Return the delay level of a message that is handed back; None is never again.

    *asked* is what the consumer wants: 0 leaves it to the broker, less gives up.
    """
    if reconsume_times < 0:
        raise LayoutError(f"{reconsume_times} deliveries")
    if asked < 0:
        return None
    return asked or FIRST_RETRY_LEVEL + reconsume_times


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
