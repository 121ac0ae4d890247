"""
What went wrong so badly that a store takes no messages until it is started again.

The bits are two of those of 4.6.0 org.apache.rocketmq.store.RunningFlags, which a log
line of a real broker shows as one number; the others there are a full disk, which
cleaning watches here, and two that nobody sets.
"""

from __future__ import annotations

from enum import IntFlag


class Flag(IntFlag):
    """One thing that is amiss."""

    QUEUE_ERROR = 1 << 2
    """A consume queue could not be written."""
    INDEX_ERROR = 1 << 3
    """An index file could not be written."""


_ATTEMPTS = {Flag.QUEUE_ERROR: 30, Flag.INDEX_ERROR: 3}
"""How often, a second apart, a file is tried before it is given up."""


class RunningFlags:
    """What is amiss with one running store."""

    def __init__(self) -> None:
        self.bits = Flag(0)
        self.is_amiss = False
        """Whether any bit is set."""
        self._failures = dict.fromkeys(_ATTEMPTS, 0)

    def failed(self, flag: Flag) -> None:
        """Note one more attempt in vain."""
        self._failures[flag] += 1
        if self._failures[flag] >= _ATTEMPTS[flag]:
            self.bits |= flag  # [SEND-STATE-004]
            self.is_amiss = True

    def succeeded(self) -> None:
        """Note that files can be written, again or still."""
        self._failures = dict.fromkeys(_ATTEMPTS, 0)
