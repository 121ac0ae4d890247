"""
Delay levels: the delays of messages, by the number in their DELAY property.

Level n waits in queue n - 1 of the schedule topic (Java: ScheduleMessageService).
"""

from __future__ import annotations

import re

from spec.integers import parse_java_int

_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_UNKNOWN_LEVEL_MS = 1000
"""Delay of 4.6.0 at a level without a duration."""


class DelayLevels:
    """The durations of the levels 1, 2, 3, ..."""

    def __init__(self, text: str) -> None:
        """Read durations such as ``1s 5s 10s``. Raises ValueError for another text."""
        self._durations_ms = [_duration_ms(word) for word in text.split(" ")]

    @property
    def max_level(self) -> int:
        """The highest level."""
        return len(self._durations_ms)

    def level_of(self, text: str | None) -> int:
        """Return the level of a DELAY property; 0 is no delay.

        Raises ValueError if it is not a number.
        """
        if text is None:
            return 0
        level = parse_java_int(text)
        if level is None:
            raise ValueError(f"DELAY is {text!r}, not a level")
        return min(level, self.max_level)  # [DELAY-LEVEL-002] [DELAY-LEVEL-003]

    def duration_ms(self, level: int) -> int:
        """Return the delay of *level* in milliseconds."""
        if 1 <= level <= self.max_level:
            return self._durations_ms[level - 1]  # [DELAY-LEVEL-001]
        return _UNKNOWN_LEVEL_MS  # [DELAY-LEVEL-007]

    def deliver_at_ms(self, level: int, stored_at_ms: int) -> int:
        """Return the delivery time of a message of *level*, given its store time."""
        return stored_at_ms + self.duration_ms(level)  # [DELAY-LEVEL-006]


def _duration_ms(word: str) -> int:
    match = re.fullmatch(r"(\d{1,12})([smhd])", word)  # [DELAY-LEVEL-004]
    if match is None:
        raise ValueError(f"{word!r} is not a duration such as 5s")
    return int(match[1]) * _UNITS_MS[match[2]]
