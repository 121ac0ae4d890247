"""
Flushing goes in rounds: most take only what fills some pages, now and then one takes
everything.

The commit log, the consume queues and the transient store pool each have rounds of
their own, with settings of their own.
"""

from __future__ import annotations

PAGE_SIZE = 4096
"""Java: MappedFile.OS_PAGE_SIZE."""


class Rounds:
    """When the rounds of one thing that is brought to disk were thorough."""

    def __init__(self) -> None:
        self._last_thorough_ms = 0

    def pages(self, now_ms: int, *, least: int, thorough_ms: int) -> int:
        """Return how many pages must wait for this round to begin; 0 for anything.

        That is *least*, but 0 every *thorough_ms*, and in the first round of all.
        """
        if now_ms >= self._last_thorough_ms + thorough_ms:
            self._last_thorough_ms = now_ms
            return 0
        return least


def is_worth_it(done: int, written: int, *, least_pages: int, file_size: int) -> bool:
    """Return whether what lies between two offsets is enough for a round.

    A file that is full always is (4.6.0 MappedFile#isAbleToFlush).
    """
    if least_pages == 0 or done >= written:
        return done < written
    start = done - done % file_size
    if written - start >= file_size:
        return True
    return (written - start) // PAGE_SIZE - (done - start) // PAGE_SIZE >= least_pages
