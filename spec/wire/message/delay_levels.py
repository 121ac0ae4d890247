"""
A delay level is a place in the broker's list of delays, from 1.

The list is the setting messageDelayLevel: numbers with a letter, spaces between them.
Level n waits in queue n - 1 of SCHEDULE_TOPIC_XXXX. There a unit's tags code is not the
hash of a tag but the message's due time. The file delayOffset.json has the offset of
each level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.layout import LayoutError

DEFAULT_DELAY_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
UNKNOWN_LEVEL_MS = 1000
"""Delay of a message whose level is no longer in the list."""
_UNITS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_SERVICE = "4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"

LEVEL_UNITS = Clause(
    id="DELAY-LEVEL-004",
    level=Level.MUST,
    text="A delay in messageDelayLevel is a number and s, m, h or d: seconds, minutes,"
    " hours or days.",
    source=f"{_SERVICE}#parseDelayLevel",
)
LEVEL_QUEUE = Clause(
    id="DELAY-LEVEL-005",
    level=Level.MUST,
    text="A message of delay level n is stored in queue n - 1 of SCHEDULE_TOPIC_XXXX.",
    source=f"{_SERVICE}#delayLevel2QueueId",
)
LEVEL_DUE = Clause(
    id="DELAY-LEVEL-006",
    level=Level.MUST,
    text="A delayed message is due at its store time plus its level's delay.",
    source=f"{_SERVICE}#computeDeliverTimestamp",
)
LEVEL_GONE = Clause(
    id="DELAY-LEVEL-007",
    level=Level.QUIRK,
    text=(
        "A message of a level that messageDelayLevel does not have is due after one "
        "second."
    ),
    source=f"{_SERVICE}#computeDeliverTimestamp",
)


@dataclass(frozen=True, slots=True)
class DelayLevels:
    """The delays of a broker."""

    delays_ms: tuple[int, ...]
    """Delay of level 1, 2 and so on."""

    @property
    def highest(self) -> int:
        """The highest level; a higher one in a message is taken for it."""
        return len(self.delays_ms)

    def due_at_ms(self, level: int, *, stored_at_ms: int) -> int:
        """Return when a message of *level* is due."""
        known = 1 <= level <= self.highest
        delay = self.delays_ms[level - 1] if known else UNKNOWN_LEVEL_MS
        return stored_at_ms + delay


def decode_delay_levels(text: str) -> DelayLevels:
    """Return the levels that the setting messageDelayLevel lists."""
    return DelayLevels(tuple(_delay_ms(word) for word in text.split(" ")))


def encode_delay_levels(levels: DelayLevels) -> str:
    """Return *levels* as a setting, each delay in the largest unit that fits."""
    return " ".join(map(_word, levels.delays_ms))


def queue_of_level(level: int) -> int:
    """Return the queue of SCHEDULE_TOPIC_XXXX in which messages of *level* wait."""
    if level < 1:
        raise LayoutError(f"{level} is not a delay level")
    return level - 1


def level_of_queue(queue_id: int) -> int:
    """Return the delay level of a queue of SCHEDULE_TOPIC_XXXX."""
    if queue_id < 0:
        raise LayoutError(f"{queue_id} is not a queue of delayed messages")
    return queue_id + 1


def _delay_ms(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}[smhd]", word, re.ASCII):
        raise LayoutError(f"{word!r} is not a delay such as 10s or 2h")
    return int(word[:-1]) * _UNITS[word[-1]]


def _word(delay_ms: int) -> str:
    for letter, unit in reversed(_UNITS.items()):
        if delay_ms % unit == 0 and delay_ms >= 0 and (delay_ms or letter == "s"):
            return f"{delay_ms // unit}{letter}"
    raise LayoutError(f"{delay_ms} ms is not whole seconds")
