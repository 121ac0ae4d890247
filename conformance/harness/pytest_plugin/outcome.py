"""
Outcomes of a clause on a target, and the choice of one for a test.

Two of the six are decided before a test runs. A test is *not-applicable* if none of its
clauses applies to the target's release. It is *unsupported* if the target lacks a
capability. Neither is ever counted as passed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn

import pytest


class Outcome(StrEnum):
    """Outcome of a clause, the gravest first."""

    ERROR = "error"
    """The harness or the target failed to run: nothing is known."""
    FAIL = "fail"
    KNOWN = "known"
    """It failed, and the target's file of known failures lists it."""
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    UNSUPPORTED = "unsupported"
    """The target does not allow what the test needs."""
    NOT_APPLICABLE = "not-applicable"
    """The clause is about other releases."""


GRAVITY = (
    Outcome.FAIL,
    Outcome.ERROR,
    Outcome.KNOWN,
    Outcome.PASS,
    Outcome.UNSUPPORTED,
    Outcome.NOT_APPLICABLE,
)
"""With several tests for a clause, the gravest outcome counts."""


def gravest(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of a clause whose tests had *outcomes*."""
    return min(outcomes, key=GRAVITY.index)


def unsupported(reason: str) -> NoReturn:
    """End the running test without a verdict: the target does not allow it."""
    pytest.skip(f"{Outcome.UNSUPPORTED}: {reason}")


def not_applicable(reason: str) -> NoReturn:
    """End the running test without a verdict: it is about other releases."""
    pytest.skip(f"{Outcome.NOT_APPLICABLE}: {reason}")


def of_skip(message: str) -> tuple[Outcome, str]:
    """Return the outcome and reason of a test that ended without a verdict."""
    name, colon, reason = message.partition(": ")
    if colon and name == Outcome.NOT_APPLICABLE:
        return Outcome.NOT_APPLICABLE, reason
    return Outcome.UNSUPPORTED, reason if name == Outcome.UNSUPPORTED else message
