"""Plain functions, called through their fast twins for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_checks.kernels.use import twins


@contextmanager
def fast_ways() -> Iterator[None]:
    """Put the fast twins in their places, and take them away at the end."""
    known = twins()
    before = [plain.fast for plain, _ in known]
    for plain, fast in known:
        plain.fast = fast
    try:
        yield
    finally:
        for (plain, _), fast in zip(known, before, strict=True):
            plain.fast = fast
