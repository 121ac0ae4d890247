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
Task = Coroutine["Wait[Any]", Any, Value]


class Wait(Generic[Value]):
    """One wait of a task, which continues with the argument of `end`."""

    __slots__ = ("end",)

    end: Callable[[Value], None]

    def __await__(self) -> Generator[Wait[Value], Value, Value]:
        """Return control to the caller of the task until `end` is called."""
        return (yield self)


def start(task: Task[object]) -> None:
    """Run *task* to its first wait; the end of each wait runs it to the next one."""

    def resume(value: Any) -> None:
        with suppress(StopIteration):
            task.send(value).end = resume

    resume(None)
