"""
Outcomes of a clause on a target.

Two of the seven are decided before a test runs. A test is *not-applicable* if none of
its clauses applies to the target's release. It is *unsupported* if the target lacks a
capability. A test is *blocked* if the target does not meet its precondition. None of
the three is ever counted as passed.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of a clause, the gravest first."""

    ERROR = "error"
    """The harness or the target failed to run: nothing is known."""
    FAIL = "fail"
    KNOWN = "known"
    """It failed, and the target's file of known failures lists it."""
    BLOCKED = "blocked"
    """The target broke earlier, or does not meet what the test needs: not known."""
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    UNSUPPORTED = "unsupported"
    """The target does not allow what the test needs."""
    NOT_APPLICABLE = "not-applicable"
    """The clause is about other releases."""


VERDICTS = (Outcome.PASS, Outcome.FAIL, Outcome.KNOWN)
"""Outcomes with a verdict."""
GRAVITY = (
    Outcome.FAIL,
    Outcome.ERROR,
    Outcome.KNOWN,
    Outcome.BLOCKED,
    Outcome.PASS,
    Outcome.UNSUPPORTED,
    Outcome.NOT_APPLICABLE,
)
"""With several tests for a clause, the gravest outcome counts."""
