"""
Topics that may have been deleted and created again, without a message since.

A deletion destroys all queues of a topic, and since 5.0 its consumed offsets. Its
messages stay in the log, without units. A lost directory of its queues leaves the same
files, apart from the consumed offsets.

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
    *, listed: Collection[str], queued: Set[str], consumed: Set[str]
) -> frozenset[str]:
    """Return the topics that a deletion explains as well as a loss.

    *listed* has the topics of topics.json, *queued* those with units, and *consumed*
    those with a consumed offset above 0. If no topic has units, all queues are lost.
    Topics of the broker itself are not deleted.
    """
    if not queued:
        return frozenset()
    return frozenset(
        topic
        for topic in {*listed} - queued - consumed
        if not topic.startswith(UNLISTED_BEGINS)
    )
