"""
A function in two ways: the plain one, which says what is meant, and a faster twin.

The plain way is always there. The twin is there once :mod:`spark_checks.kernels` has
been asked for it, and could be had. Tests hold both to the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Twofold(Generic[Asked, Answer]):
    """A plain function that is called through its fast twin, where there is one."""

    def __init__(self, plain: Callable[Asked, Answer]) -> None:
        self.plain = plain
        self.fast: Callable[Asked, Answer] | None = None
        update_wrapper(self, plain)

    def __call__(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        """Return what either way answers."""
        return (self.fast or self.plain)(*args, **kwargs)
