"""
Run code with or without kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from columns.kernels.install import kernel_pairs
from java_runtime.user_cache import cache_path

Response = TypeVar("Response")


@contextmanager
def with_kernels(*, are_wanted: bool = True) -> Iterator[None]:
    """Install the kernels, or remove them, until the end."""
    known = kernel_pairs(cache_path())
    before = [function.kernel for function, _ in known]
    for function, kernel in known:
        function.kernel = kernel if are_wanted else None
    try:
        yield
    finally:
        for (function, _), kernel in zip(known, before, strict=True):
            function.kernel = kernel


def without_kernels(function: Callable[[], Response]) -> Response:
    """Return the result of *function* with fallbacks only."""
    with with_kernels(are_wanted=False):
        return function()
