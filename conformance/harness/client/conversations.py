"""
Transcripts of the running test, from all of its connections.

A failure shows every transcript, including those of closed connections. A test with
generated examples clears them before each example. At its end they contain the last
example, the smallest one that fails.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakMethod

from conformance.harness.client.transcript import Transcript

MOST_KEPT = 64
"""Closed conversations of one test that are kept, the last ones."""


Receiver: TypeAlias = WeakMethod[Callable[[], None]]


class _Kept:
    """Open transcripts, and the last ones that were closed."""

    def __init__(self) -> None:
        self.begun_at: WeakKeyDictionary[Transcript, int] = WeakKeyDictionary()
        """Number of entries of each at the begin of the test or its example."""
        self.receivers: WeakKeyDictionary[Transcript, Receiver] = WeakKeyDictionary()
        self.closed: deque[Transcript] = deque(maxlen=MOST_KEPT)


class Conversations:
    """Open transcripts of this process, and those that the running test has closed."""

    def __init__(self) -> None:
        self._of_test = _Kept()
        self._of_thread = threading.local()
        self.beginnings = 0
        """Number of tests and examples that have begun."""

    @property
    def _found(self) -> _Kept:
        """Transcripts of the thread's block apart, else of the running test."""
        apart: _Kept | None = getattr(self._of_thread, "apart", None)
        return self._of_test if apart is None else apart

    def begin(self) -> None:
        """Drop earlier entries: a test, or an example of one, begins."""
        self.beginnings += 1
        self._found.closed.clear()
        for transcript in list(self._found.begun_at):
            self._found.begun_at[transcript] = len(transcript)

    def add(
        self, transcript: Transcript, receive: Callable[[], None] | None = None
    ) -> None:
        """Note that a connection was opened.

        *receive*, a method, moves frames that have arrived into *transcript*.
        """
        self._found.begun_at[transcript] = 0
        if receive is not None:
            self._found.receivers[transcript] = WeakMethod(receive)
        self._found.closed.append(transcript)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Record the block's connections as those of a test of their own.

        The block is that of the calling thread: a test may run beside it.
        """
        outer = getattr(self._of_thread, "apart", None)
        self._of_thread.apart = _Kept()
        try:
            yield
        finally:
            self._of_thread.apart = outer

    def receive_waiting(self) -> None:
        """Move frames that have arrived on open connections into the transcripts.

        A failed test may wait elsewhere, and leave the response that explains it.
        """
        for receiver in list(self._found.receivers.values()):
            receive = receiver()
            if receive is not None:
                receive()

    def transcripts(self) -> list[Transcript]:
        """Return the entries since the beginning, the oldest connection first."""
        parts = [one.since(start) for one, start in list(self._found.begun_at.items())]
        return sorted((one for one in parts if len(one)), key=lambda x: x.opened_at_ms)

    def latest(self) -> Transcript | None:
        """Return the transcript with the latest entry, or None."""
        return max(self.transcripts(), key=lambda one: one.last_at_ms, default=None)

    def entries_of(self, transcript: Transcript | None) -> Transcript | None:
        """Return the entries of one connection since the beginning."""
        if transcript is None or transcript not in self._found.begun_at:
            return transcript
        return transcript.since(self._found.begun_at[transcript])


CONVERSATIONS = Conversations()
"""Those of this process: a worker runs one test at a time."""
