"""
What went wrong so badly that a store takes no messages until it is started again.

4.6.0 org.apache.rocketmq.store.RunningFlags has a bit each for this and for a full
disk, which cleaning watches here; one for the index, which is never set; and two that
nobody sets.
"""

from __future__ import annotations

_ATTEMPTS = 30
"""How often, a second apart, a queue is tried before it is given up."""


class RunningFlags:
    """What is amiss with one running store."""

    def __init__(self) -> None:
        self.is_queue_stuck = False
        """Whether a consume queue could not be written."""
        self._failures = 0

    def on_queue_failure(self) -> None:
        """Note one more attempt in vain."""
        self._failures += 1
        self.is_queue_stuck |= self._failures >= _ATTEMPTS  # [SEND-STATE-004]

    def on_queue_success(self) -> None:
        """Note that queues can be written, again or still."""
        self._failures = 0
