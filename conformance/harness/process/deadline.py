"""Wait for a condition with a deadline; the error names the condition."""

from __future__ import annotations

import time
from collections.abc import Callable

PAUSE_S = 0.01
"""Pause between two checks: short beside any deadline, long beside a round trip."""


class TooLateError(AssertionError):
    """The condition did not come true before its deadline."""


def wait_until(
    condition: Callable[[], bool], *, what: str, timeout_s: float = 10.0
) -> None:
    """Return as soon as *condition* holds; *what* is its name in the error."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TooLateError(f"waited {timeout_s:g} s until {what}, in vain")
        time.sleep(PAUSE_S)
