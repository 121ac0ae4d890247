"""
The conversations of the running test, whoever in it opened the connections.

A failure is told with all that was said, also on connections that are closed by then.
A test that tries generated examples begins anew with each, so that what is left at its
end is what was said in the last: the smallest one that fails.
"""

from __future__ import annotations

from collections import deque
from weakref import WeakKeyDictionary

from conformance.harness.transcript import Transcript

MOST_KEPT = 64
"""Closed conversations of one test that are kept, the last ones."""


class Conversations:
    """Knows each open conversation, and those that the running test has closed."""

    def __init__(self) -> None:
        self._begun_at: WeakKeyDictionary[Transcript, int] = WeakKeyDictionary()
        """How many entries each had when the test, or its example, began."""
        self._kept: deque[Transcript] = deque(maxlen=MOST_KEPT)
        self.beginnings = 0
        """How many tests and examples have begun."""

    def begin(self) -> None:
        """Forget what was said so far: a test, or an example of one, begins."""
        self.beginnings += 1
        self._kept.clear()
        for transcript in list(self._begun_at):
            self._begun_at[transcript] = len(transcript)

    def note(self, transcript: Transcript) -> None:
        """Note that a connection was opened."""
        self._begun_at[transcript] = 0
        self._kept.append(transcript)

    def said(self) -> list[Transcript]:
        """Return what was said since the beginning, the oldest connection first."""
        parts = [one.since(start) for one, start in list(self._begun_at.items())]
        return sorted((one for one in parts if len(one)), key=lambda x: x.opened_at_ms)

    def latest(self) -> Transcript | None:
        """Return the conversation in which something was said last, if there is one."""
        return max(self.said(), key=lambda one: one.last_at_ms, default=None)

    def said_on(self, transcript: Transcript | None) -> Transcript | None:
        """Return what was said on one connection since the beginning."""
        if transcript is None or transcript not in self._begun_at:
            return transcript
        return transcript.since(self._begun_at[transcript])


CONVERSATIONS = Conversations()
"""Those of this process: a worker runs one test at a time."""
