"""
A plan says what a generated store holds, so exactly that each of its parts can be
written without the others.

A store is a row of parts, one commit-log file each, and a part is so many rounds. All
rounds are alike: a message for every queue of every topic, and one each of what a
broker makes by itself (see :mod:`spark_checks.generate.rounds`). So the queue offset of
any message follows from its round's number, and parts can be written in any order and
by any number of machines that see the same directory.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.store.consume_queue import UNIT_SIZE
from spec.wire.multi_dispatch import LIGHT_PREFIX

BEGAN_AT_MS = 1_700_000_000_000
"""When the first message of any generated store was stored."""
ROUND_MS = 12_000
"""How long a round takes: longer than its longest delay."""
GROUP = "orders_group"
"""The group that consumes, and hands some messages back."""
BATCH_TOPIC = "OrderBatches"
"""The topic of a rich store that has a batch queue."""
LIGHT_QUEUES = (f"{LIGHT_PREFIX}orders_a", f"{LIGHT_PREFIX}orders_b")
"""The queues in which one message of each round of a rich store stands besides."""
RETRY_TOPIC = f"%RETRY%{GROUP}"
DEAD_TOPIC = f"%DLQ%{GROUP}"

BODY_SIZE_MAX = 4 * 1024 * 1024
"""A broker takes no larger ones (maxMessageSize)."""


class PlanError(ValueError):
    """No store can be made by this plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a generated store holds."""

    seed: int = 1
    files: int = 2
    """Commit-log files."""
    log_size: int = 256 * 1024
    """Bytes of each of them."""
    queue_units: int = 300_000
    """Units of a consume-queue file."""
    topics: int = 2
    queues: int = 2
    """Queues of each topic."""
    body_size: int = 256
    """Bytes of the largest body; the smallest has a sixteenth less."""
    is_rich: bool = False
    """Whether there is what a broker of 5.x writes only where it is told to: extensions
    of consume queues, light queues, batch queues, checksums of whole records."""

    def __post_init__(self) -> None:
        for name in ("files", "queue_units", "topics", "queues", "body_size"):
            if getattr(self, name) < 1:
                raise PlanError(f"{name} is {getattr(self, name)}, at least 1 is due")
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
        return tuple(f"Orders{number:04d}" for number in range(self.topics))


def plan_of_size(
    size: int,
    *,
    seed: int,
    topics: int,
    queues: int,
    body_size: int,
    is_rich: bool = False,
) -> Plan:
    """Return a plan of a store whose commit log has about *size* bytes.

    Its files are the more numerous the larger it is, as far as a real broker's 1 GiB.
    """
    log_size = log_size_for(size)
    return Plan(
        seed=seed,
        files=max(-(-size // log_size), 1),
        log_size=log_size,
        queue_units=300_000 if size >= 1 << 26 else 50,
        topics=topics,
        queues=queues,
        body_size=body_size,
        is_rich=is_rich,
    )


def log_size_for(size: int) -> int:
    """Return the bytes of each file of a commit log of about *size* bytes."""
    log_size = 256 * 1024
    while log_size < size // 16 and log_size < 1 << 30:
        log_size *= 2
    return log_size
