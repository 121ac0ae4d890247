"""
Functions that a compiled kernel may replace.

The fallback is always there and defines the result. A kernel is there once
``columns.kernels.install`` has installed it. Tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Accelerated(Generic[Parameters, Result]):
    """A function that calls its kernel if one is installed, else its fallback."""

    def __init__(self, fallback: Callable[Parameters, Result]) -> None:
        self.fallback = fallback
        self.kernel: Callable[Parameters, Result] | None = None
        update_wrapper(self, fallback)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Return the result of the kernel, or of the fallback without one."""
        return (self.kernel or self.fallback)(*args, **kwargs)
