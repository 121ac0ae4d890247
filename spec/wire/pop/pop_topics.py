"""
A message that is not acknowledged in time comes again from a retry topic of the group.

Other than with pull, that topic belongs to one group and one topic. Its name has both,
joined by an underscore or, with the setting ``enableRetryTopicV2``, by a plus sign.
"""

from __future__ import annotations

from spec.wire.message.retry_topics import retry_topic
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.pop.pop_receipt import TopicKind

_JOINED_BY = {TopicKind.RETRY: "_", TopicKind.RETRY_V2: "+"}


def topic_of_kind(kind: str, *, topic: str, group: str) -> str:
    """Return the topic from which *group* gets a message of *topic*.

    The kind is that of a receipt. See POP-REVIVE-004 and POP-REVIVE-007.
    """
    if kind == TopicKind.NORMAL:
        return topic
    return f"{retry_topic(group)}{_JOINED_BY[TopicKind(kind)]}{topic}"


def next_topics(topic: str, *, group: str) -> tuple[str, ...]:
    """Return the topics from which a popped message of *topic* may come again."""
    if topic.startswith(RETRY_PREFIX):
        return (topic,)
    return tuple(topic_of_kind(kind, topic=topic, group=group) for kind in _JOINED_BY)


def popped_topic(topic: str, *, group: str) -> str:
    """Return the topic that *group* pops, for that topic or for its retry topic."""
    for joined_by in _JOINED_BY.values():
        begin = f"{retry_topic(group)}{joined_by}"
        if topic.startswith(begin):
            return topic.removeprefix(begin)
    return topic
