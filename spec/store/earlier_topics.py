"""
Topics that may have been deleted and created again, without a message since.

A deletion destroys all queues of a topic. Its messages stay in the log, without units.
A lost directory of its queues leaves the same files, apart from two: since 5.0 a
deletion also removes the consumed offsets. Up to 4.9 it keeps them, and leaves the
directory of the topic empty (4.6.0 store.MappedFileQueue#destroy).

5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor#deleteTopicInBroker.
"""

from __future__ import annotations

from collections.abc import Collection, Set

from spec.wire.message.topic_names import UNLISTED_BEGINS

BOTH_CAUSES = (
    "its topic has no unit: it was deleted and created again, or the directory of its"
    " queues is lost"
)
"""Reason why a message of these topics has no unit."""


def may_be_created_again(
    *,
    listed: Collection[str],
    queued: Set[str],
    consumed: Set[str],
    emptied: Set[str],
) -> frozenset[str]:
    """Return the topics that a deletion explains as well as a loss.

    *listed* are the topics of topics.json. *queued* have files of queues, *consumed* a
    consumed offset above 0, and *emptied* an empty directory. If no topic has files,
    all queues are lost. Topics of the broker itself are not deleted.
    """
    if not queued:
        return frozenset()
    return frozenset(
        topic
        for topic in {*listed} - queued - (consumed - emptied)
        if not topic.startswith(UNLISTED_BEGINS)
    )
