"""
Messages that come later, as lists: what waits at each level, and where it will come.

Times are a broker's own, as it stamps records; a level's delay is how long it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX

FIRST_RETRY_LEVEL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A queue."""

    topic: str
    queue_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedMessage:
    """A message that is stored, and will be in a queue."""

    number: int
    """Counts all of a topic's, those that are handed back anew each time."""
    to: Destination
    body: bytes
    reconsume_times: int
    level: int
    """The delay level at which it waits; 0 for not at all."""
    first_topic: str | None = None
    """Topic before its first retry."""
    first_id: str | None = None


@dataclass(slots=True)
class Delays:
    """Everything that was sent, waits or has come."""

    levels_ms: Sequence[int]
    """The delays of level 1, 2 and so on."""
    waits_again: bool
    """Whether what has waited once does so again on its way to the dead letters."""
    forgets: bool
    """Whether what is among the dead letters without waiting has no first id."""
    waiting: dict[int, list[tuple[DelayedMessage, int]]] = field(default_factory=dict)
    """By level, in order: each with the time at which it is due."""
    come: dict[Destination, list[DelayedMessage]] = field(default_factory=dict)

    def level(self, consumer_level: int) -> int:
        """Return the level at which a message waits that requests one, or 0."""
        return max(0, min(consumer_level, len(self.levels_ms)))

    def wait(self, one: DelayedMessage, *, stored_at_ms: int) -> None:
        """Let a message wait at its level."""
        due_at_ms = stored_at_ms + self.levels_ms[one.level - 1]
        self.waiting.setdefault(one.level, []).append((one, due_at_ms))

    def arrive(self, one: DelayedMessage) -> None:
        """Let a message come."""
        self.come.setdefault(one.to, []).append(one)

    def sent_back(
        self,
        one: DelayedMessage,
        *,
        number: int,
        group: str,
        consumer_level: int,
        most: int,
        message_id: str,
    ) -> DelayedMessage:
        """Return the message that follows *one* when a consumer sends it back."""
        is_dead = consumer_level < 0 or one.reconsume_times >= most
        level = self.level(consumer_level or FIRST_RETRY_LEVEL + one.reconsume_times)
        if is_dead:
            level = one.level if self.waits_again else 0
        is_forgotten = self.forgets and is_dead and not level
        prefix = DLQ_PREFIX if is_dead else RETRY_PREFIX
        return DelayedMessage(
            number=number,
            to=Destination(topic=prefix + group),
            body=one.body,
            reconsume_times=one.reconsume_times + 1,
            level=level,
            first_topic=one.first_topic or one.to.topic,
            first_id=None if is_forgotten else one.first_id or message_id,
        )
