"""
Targets that several tests use, the latest few of which run at a time.

An idle broker of 5.x needs a tenth of a core. A worker that kept each until its end
would slow down all others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT = 2
"""Values that are kept at a time; a target is one JVM, or two."""


class Kept:
    """Values of context managers by name, such as started targets."""

    def __init__(self) -> None:
        self._values: dict[object, tuple[Any, ExitStack]] = {}
        self._failed: dict[object, tuple[BaseException, TracebackType | None]] = {}
        """Exceptions, also pytest's skips, of values that could not be made."""

    def get(self, name: object, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return the value *name*, which *make* makes unless it is still there.

        It is there until *LIMIT* others have been used. If *make* fails, it is not
        called again: each start of a broken target would last until its timeout.
        """
        if name in self._failed:
            error, traceback = self._failed[name]
            raise error.with_traceback(traceback)
        try:
            used = self._values.pop(name, None) or self._made(make)
        except BaseException as error:
            self._failed[name] = error, error.__traceback__
            raise
        self._values[name] = used  # the latest is the last
        value: T = used[0]
        return value

    def close(self) -> None:
        """End all values."""
        while self._values:
            self._end_first()

    def _made(
        self, make: Callable[[], AbstractContextManager[T]]
    ) -> tuple[T, ExitStack]:
        while len(self._values) >= LIMIT:
            self._end_first()
        end = ExitStack()
        return end.enter_context(make()), end

    def _end_first(self) -> None:
        _, end = self._values.pop(next(iter(self._values)))
        end.close()
