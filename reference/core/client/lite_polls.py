"""
The polls of a lite pull consumer that wait, each until its time is over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from reference.core.client.asking import Asker
from reference.core.client.pulling import Received


class LitePolls:
    """Gives batches to polls as they come."""

    def __init__(self, asker: Asker, take: Callable[[], tuple[Received, ...]]) -> None:
        self._asker = asker
        self._take = take
        self._waiting: deque[int] = deque()

    def begin(self, number: int, *, until_ms: int) -> None:
        """Let the call of this number end with a batch, or *until_ms* with ()."""
        self._waiting.append(number)
        self.serve()

        def too_late(_now_ms: int) -> None:
            if number in self._waiting:
                self._waiting.remove(number)
                self._asker.finish(number, ())

        if number in self._waiting:
            self._asker.schedule.at(until_ms, too_late)

    def serve(self) -> None:
        """Give out what there is."""
        while self._waiting and (messages := self._take()):
            self._asker.finish(self._waiting.popleft(), messages)

    def end(self) -> None:
        """End them all, with nothing."""
        while self._waiting:
            self._asker.finish(self._waiting.popleft(), ())
