"""A lock ends a minute after the last request of its holder."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.expectations import expect_that
from conformance.messaging.groups.lock_expiry import LOCK_TIME_S, Ages, LockExpiry

LATE_S = 6.0
"""Detection delay of a busy machine; on a hastened clock half a second."""

pytestmark = [pytest.mark.patient, pytest.mark.needs("wire")]


def expect_a_minute(clause: str, ages: Ages | None) -> None:
    """Fail *clause* unless the lock ended when it was a minute old."""
    expect_that(
        clause,
        ages is not None
        and ages.most_s >= LOCK_TIME_S
        and ages.least_s <= LOCK_TIME_S + LATE_S,
        found=ages,
        expected=f"{LOCK_TIME_S:g} to {LOCK_TIME_S + LATE_S:g}",
        what="seconds after which another client got the queue",
    )


@pytest.mark.clause("GROUP-LOCK-005")
def test_a_queue_is_free_a_minute_after_it_was_locked(lock_expiry: LockExpiry) -> None:
    expect_a_minute("GROUP-LOCK-005", lock_expiry.once)


@pytest.mark.clause("GROUP-LOCK-006")
def test_a_renewed_lock_lasts_another_minute(lock_expiry: LockExpiry) -> None:
    expect_a_minute("GROUP-LOCK-006", lock_expiry.renewed)
