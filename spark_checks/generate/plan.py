"""
Plan of a generated store, exact enough to write each part without the others.

A store is a sequence of parts with one commit-log file each, and a part is a sequence
of rounds. Each round has a message for every queue, and one of each kind that a broker
makes (see :mod:`spark_checks.generate.rounds`). The queue offset of a message follows
from its round. Parts can therefore be written in any order, and by several machines
with a shared directory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import DLQ_PREFIX, LMQ_PREFIX, RETRY_PREFIX
from spec.wire.pop.pop_bodies import REVIVE_TOPIC_PREFIX
from spec.wire.pop.pop_receipt import TopicKind
from spec.wire.pop.pop_topics import topic_of_kind

BEGAN_AT_MS = 1_700_000_000_000
"""Store time of the first message of any generated store."""
ROUND_MS = 12_000
"""Duration of a round, longer than its longest delay."""
GROUP = "orders_group"
"""Group that consumes, and sends some messages back."""
BATCH_TOPIC = "OrderBatches"
"""Topic of a rich store with a batch consume queue."""
LMQ_NAMES = (f"{LMQ_PREFIX}orders_a", f"{LMQ_PREFIX}orders_b")
"""LMQs to which one message of each round of a rich store is dispatched."""
REVIVE_TOPIC = f"{REVIVE_TOPIC_PREFIX}DefaultCluster"
"""Topic of a rich store with checkpoints of pops and their acknowledgements."""
RETRY_TOPIC = f"{RETRY_PREFIX}{GROUP}"
DEAD_TOPIC = f"{DLQ_PREFIX}{GROUP}"

BODY_SIZE_MAX = 4 * 1024 * 1024
"""Largest body that a broker accepts by default (maxMessageSize)."""


class PlanError(ValueError):
    """The plan cannot be carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Content of a generated store."""

    seed: int = 1
    files: int = 2
    """Commit-log files."""
    log_size: int = 256 * 1024
    """Bytes of a commit-log file."""
    queue_units: int = 300_000
    """Units of a consume-queue file."""
    topics: int = 2
    queues: int = 2
    """Queues of each topic."""
    body_size: int = 256
    """Bytes of the largest body; the smallest has a sixteenth less."""
    is_rich: bool = False
    """Whether to include optional structures of a 5.x broker: extensions, LMQs, batch
    consume queues, pops, and checksums of whole records."""

    counted: ClassVar = ["files", "queue_units", "topics", "queues", "body_size"]
    """Fields of at least 1."""
    prefix: ClassVar[str] = "Orders"
    """Begin of the topics' names."""

    def __post_init__(self) -> None:
        for name in self.counted:
            value = getattr(self, name)
            if value < 1:
                raise PlanError(f"{name} is {value}, at least 1 is required")
        if self.body_size > BODY_SIZE_MAX:
            reason = f"a body of {self.body_size} bytes does not fit into a message"
            raise PlanError(reason)

    @property
    def queue_size(self) -> int:
        """Bytes of a consume-queue file."""
        return self.queue_units * UNIT_SIZE

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The topics that producers send to."""
        return tuple(f"{self.prefix}{number:04d}" for number in range(self.topics))

    @property
    def pop_retry_topic(self) -> str:
        """The topic of messages that are popped again, of a rich store."""
        topic = self.topic_names[-1]
        return topic_of_kind(TopicKind.RETRY, topic=topic, group=GROUP)

    def with_size(self, size: int) -> Plan:
        """Return the plan of a store whose commit log has about *size* bytes.

        Larger stores have more and larger files, up to 1 GiB each.
        """
        log_size = log_size_for(size)
        return replace(
            self,
            files=max(-(-size // log_size), 1),
            log_size=log_size,
            queue_units=300_000 if size >= 1 << 26 else 50,
        )


def log_size_for(size: int) -> int:
    """Return the size of each file of a commit log of about *size* bytes."""
    log_size = 256 * 1024
    while log_size < size // 16 and log_size < 1 << 30:
        log_size *= 2
    return log_size
