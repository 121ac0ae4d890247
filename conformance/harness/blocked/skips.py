"""
Ends of a test without a verdict: blocked, unsupported or not applicable.

Pytest reports both as skipped. The outcome stands before the reason in the message.
"""

from __future__ import annotations

from typing import NoReturn

import pytest

from conformance.harness.report.outcome import Outcome


def unsupported(reason: str) -> NoReturn:
    """End the running test without a verdict: the target does not allow it."""
    pytest.skip(f"{Outcome.UNSUPPORTED}: {reason}")


def not_applicable(reason: str) -> NoReturn:
    """End the running test without a verdict: it is about other releases."""
    pytest.skip(f"{Outcome.NOT_APPLICABLE}: {reason}")


def blocked(reason: str) -> NoReturn:
    """End the running test without a verdict: the target does not get that far."""
    pytest.skip(f"{Outcome.BLOCKED}: {reason}")


def of_skip(message: str) -> tuple[Outcome, str]:
    """Return the outcome and reason of a test that ended without a verdict."""
    name, colon, reason = message.partition(": ")
    for outcome in (Outcome.NOT_APPLICABLE, Outcome.BLOCKED):
        if colon and name == outcome:
            return outcome, reason
    return Outcome.UNSUPPORTED, reason if name == Outcome.UNSUPPORTED else message
