"""
The effects and timers that a client or a server has for the shell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from reference.core.remoting.effects import LogError, SetTimer
from reference.core.remoting.timers import Timers

EffectT = TypeVar("EffectT")


class Outbox(Generic[EffectT]):
    """Effects and timers of a client or a server (Java: NettyRemotingAbstract).

    The shell takes the effects after each call. They end with a `SetTimer` where the
    earliest timer is due before the one that was set last.
    """

    def __init__(self) -> None:
        self.timers = Timers(self.log_error)
        self._outbox: list[EffectT | LogError | SetTimer] = []
        self.emit: Callable[[EffectT], None] = self._outbox.append
        """Adds an effect for the shell."""
        self._timer_ms: int | None = None

    def log_error(self, text: str) -> None:
        """Write a line to the operator's log."""
        self._outbox.append(LogError(text))

    def run_timers(self, now_ms: int) -> None:
        """Run the timers that are due; the shell's timer has expired."""
        self._timer_ms = None
        self.timers.run_due(now_ms)

    def take_effects(self) -> list[EffectT | LogError | SetTimer]:
        """Return the effects since the last call."""
        due_ms = self.timers.next_at_ms
        if due_ms is not None and (self._timer_ms is None or due_ms < self._timer_ms):
            self._timer_ms = due_ms
            self._outbox.append(SetTimer(due_ms))
        if not self._outbox:
            return []
        effects = self._outbox.copy()
        self._outbox.clear()
        return effects
