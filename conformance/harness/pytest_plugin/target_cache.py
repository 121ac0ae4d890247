"""
Targets that several tests use, the latest few of which run at a time.

An idle broker of 4.x needs 2 % of a core, one of 5.x 10 %. A worker that caches each
until its end would slow down all others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT = 2
"""Values that are cached at a time; a target is one JVM, or two."""
IDLE_S = 20.0
"""A target that no test has used for so long has cost as much as its next start."""


class TargetCache:
    """Values of context managers by name, such as started targets."""

    def __init__(self) -> None:
        self._values: dict[object, tuple[Any, ExitStack]] = {}
        self._failed: dict[object, tuple[BaseException, TracebackType | None]] = {}
        """Exceptions, also pytest's skips, of values that could not be made."""
        self._used_now: set[object] = set()
        """Names of values that tests of the current file used."""
        self._used_at: dict[object, float] = {}

    def get(self, name: object, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return the value *name*, which *make* makes unless it is still there.

        It is there until *LIMIT* others have been used, or until it is idle. If *make*
        fails, it is not called again: each start of a broken target would last until
        its timeout.
        """
        if name in self._failed:
            error, traceback = self._failed[name]
            raise error.with_traceback(traceback)
        if name not in self._values:
            self._make_room()
        try:
            used = self._values.pop(name, None) or _made(make)
        except BaseException as error:
            self._failed[name] = error, error.__traceback__
            raise
        self._values[name] = used  # the latest is the last
        self._used_now.add(name)
        value: T = used[0]
        return value

    def end_file(self, now_s: float | None = None) -> None:
        """End the values that no test has used for *IDLE_S*; a file of tests has ended.

        Within a file, a fixture of a wider scope may still have a value.
        """
        now = time.monotonic() if now_s is None else now_s
        self._used_at.update(dict.fromkeys(self._used_now, now))
        self._used_now.clear()
        self.end_idle(now)

    def end_idle(self, now_s: float | None = None) -> None:
        """End the values of earlier files that no test has used for *IDLE_S*."""
        now = time.monotonic() if now_s is None else now_s
        for name in list(self._values):
            if name not in self._used_now and now - self._used_at[name] > IDLE_S:
                self._end(name)

    def close(self) -> None:
        """End all values, also those behind one whose end fails."""
        with ExitStack() as ends:
            for name in reversed(self._values):
                ends.callback(self._values[name][1].close)
            self._values.clear()

    def _make_room(self) -> None:
        """End the values used longest ago, until there is room for another."""
        while len(self._values) >= LIMIT:
            self._end(next(iter(self._values)))

    def _end(self, name: object) -> None:
        _, end = self._values.pop(name)
        end.close()


def _made(make: Callable[[], AbstractContextManager[T]]) -> tuple[T, ExitStack]:
    end = ExitStack()
    return end.enter_context(make()), end
