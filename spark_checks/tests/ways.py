"""Functions of two ways, called by one of them for a while, and what they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from spark_checks.kernels.use import twins
from spark_checks.sources.survey import Survey

Answer = TypeVar("Answer")


@contextmanager
def fast_ways(*, are_wanted: bool = True) -> Iterator[None]:
    """Put the fast twins in their places, or take them away, until the end."""
    known = twins()
    before = [plain.fast for plain, _ in known]
    for plain, fast in known:
        plain.fast = fast if are_wanted else None
    try:
        yield
    finally:
        for (plain, _), fast in zip(known, before, strict=True):
            plain.fast = fast


def plainly(function: Callable[[], Answer]) -> Answer:
    """Return what *function* answers by plain ways alone."""
    with fast_ways(are_wanted=False):
        return function()


def told(survey: Survey) -> tuple[object, ...]:
    """Return what there is to compare of a *survey*."""
    ledger = survey.ledger
    rows = {
        name: {column: values.tolist() for column, values in ledger.table(name).items()}
        for name in ledger.rows
    }
    others = [name for name in Survey.__slots__ if name != "ledger"]
    sums = {name: getattr(survey, name) for name in others}
    return rows, ledger.is_odd, ledger.bad_returns, sums
