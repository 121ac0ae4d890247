"""
Times of the suite for clients: their tolerances, and short and long periods.
"""

from __future__ import annotations

from conformance.harness.pytest_plugin.expectations import expect_that

CLOCKS_MS = 100
"""Difference that two clocks may have."""
SOON_MS = 200
"""A period that is set to be short."""
SLOW_S = 150.0
"""For what a client does after its periods of 10 and 20 seconds."""
SLACK_MS = 5000
"""For a machine that is busy; the periods are six times as long."""


def expect_about(clause_id: str, found_ms: float, expected_ms: int) -> None:
    """Fail *clause_id* unless a time is as long, or a little longer."""
    expect_that(
        clause_id,
        expected_ms - SLACK_MS / 10 <= found_ms <= expected_ms + SLACK_MS,
        found=f"{found_ms:.0f} ms",
        expected=f"{expected_ms} ms, or a little more",
    )
