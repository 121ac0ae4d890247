"""Wait for a condition with a deadline; the error names the condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

PAUSE_S = 0.01
"""Pause between two checks: short beside any deadline, long beside a round trip."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """End of a wait, and its length for the message about it."""

    at: float
    timeout_s: float

    @classmethod
    def after(cls, timeout_s: float) -> Self:
        """Return the deadline that is *timeout_s* from now."""
        return cls(time.monotonic() + timeout_s, timeout_s)


class TooLateError(AssertionError):
    """The condition *what* did not come true within *waited_s* seconds.

    *found* is the state that was found instead.
    """

    def __init__(self, what: str, waited_s: float, found: str = "") -> None:
        self.what = what
        self.found = f"{found or 'nothing'} after {waited_s:g} s"
        super().__init__(f"waited {waited_s:g} s until {what}, in vain")


def comes_true(condition: Callable[[], bool], timeout_s: float = 10.0) -> bool:
    """Return whether *condition* holds within *timeout_s*, as soon as it does."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True


def wait_until(
    condition: Callable[[], bool],
    *,
    what: str,
    timeout_s: float = 10.0,
    found: Callable[[], str] = str,
) -> None:
    """Return as soon as *condition* holds.

    In the error *what* is its name, and *found* returns the state in its place.
    """
    if not comes_true(condition, timeout_s):
        raise TooLateError(what, timeout_s, found())
