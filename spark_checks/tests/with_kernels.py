"""
Run code with or without kernels, and compare surveys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from spark_checks.kernels.install import kernel_pairs
from spark_checks.survey.survey import Survey

Answer = TypeVar("Answer")


@contextmanager
def with_kernels(*, are_wanted: bool = True) -> Iterator[None]:
    """Install the kernels, or remove them, until the end."""
    known = kernel_pairs()
    before = [plain.kernel for plain, _ in known]
    for plain, fast in known:
        plain.kernel = fast if are_wanted else None
    try:
        yield
    finally:
        for (plain, _), fast in zip(known, before, strict=True):
            plain.kernel = fast


def without_kernels(function: Callable[[], Answer]) -> Answer:
    """Return the result of *function* with fallbacks only."""
    with with_kernels(are_wanted=False):
        return function()


def comparable(survey: Survey) -> tuple[object, ...]:
    """Return the comparable parts of a *survey*."""
    ledger = survey.ledger
    rows = {
        name: {column: values.tolist() for column, values in ledger.table(name).items()}
        for name in ledger.rows
    }
    others = [name for name in Survey.__slots__ if name != "ledger"]
    sums = {name: getattr(survey, name) for name in others}
    return rows, ledger.is_incomplete, ledger.bad_send_backs, sums
