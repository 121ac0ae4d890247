"""
Tasks: coroutines of the client that wait for responses, routes and times.

A task runs within the call of the shell that ends its wait. It needs no event loop: the
core keeps what a task waits for, and ends the wait with a value.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
Task = Coroutine["Wait[Any]", None, Value]


class Wait(Generic[Value]):
    """A value that tasks wait for; they continue when `end` has it."""

    def __init__(self) -> None:
        self._values: list[Value] = []
        self.resume: list[Callable[[], None]] = []
        self._cycle: Wait[Value] | None = None

    def end(self, value: Value) -> None:
        """End the wait, at most once."""
        self._values.append(value)
        for resume in self.resume:
            resume()

    def __await__(self) -> Generator[Wait[Value], None, Value]:
        """Return control to the caller of the task until `end` is called."""
        if not self._values:
            try:
                yield self
            except GeneratorExit:
                # A garbage collection may close the task's innermost coroutine first,
                # which refers to this wait. Without the cycle that would free the
                # wait, and by it the task while its own coroutine is executing.
                self._cycle = self
                raise
        return self._values[0]


def start(task: Task[object]) -> None:
    """Run *task* to its first wait; the end of each wait runs it to the next one."""
    with suppress(StopIteration):
        task.send(None).resume.append(lambda: start(task))


def begin(task: Task[Value]) -> Wait[Value]:
    """Start *task*, and return the wait for its result."""
    wait = Wait[Value]()

    async def run() -> None:
        wait.end(await task)

    start(run())
    return wait
