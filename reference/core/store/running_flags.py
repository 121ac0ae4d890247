"""
Why a store takes no messages just now: a bit for each reason.

The bits are those of 4.6.0 org.apache.rocketmq.store.RunningFlags, which a log line
of a real broker shows as one number.
"""

from __future__ import annotations

from enum import IntFlag


class Flag(IntFlag):
    """One thing that is amiss."""

    NOT_READABLE = 1
    NOT_WRITABLE = 1 << 1
    """Declared by Java, set by nobody."""
    QUEUE_ERROR = 1 << 2
    """A consume queue could not be written; only a restart clears it."""
    INDEX_ERROR = 1 << 3
    """An index file could not be made; only a restart clears it."""
    DISK_FULL = 1 << 4
    """Whoever watches the disk sets and clears it."""


_REFUSES = Flag.NOT_WRITABLE | Flag.QUEUE_ERROR | Flag.INDEX_ERROR | Flag.DISK_FULL


class RunningFlags:
    """What is amiss with one running store."""

    def __init__(self) -> None:
        self.bits = Flag(0)
        self.is_writable = True
        """Whether messages are taken."""

    def add(self, flag: Flag) -> None:
        """Note that something is amiss."""
        self._become(self.bits | flag)

    def remove(self, flag: Flag) -> None:
        """Note that it is well again."""
        self._become(self.bits & ~flag)

    @property
    def is_queue_writable(self) -> bool:
        """Whether queues are still written: a full disk does not keep them from it."""
        return not self.bits & (_REFUSES & ~Flag.DISK_FULL)

    def _become(self, bits: Flag) -> None:
        self.bits = bits
        self.is_writable = not bits & _REFUSES
