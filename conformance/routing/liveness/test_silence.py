"""Peers that are silent for two minutes are given up."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.target import Target
from conformance.routing.liveness.silence import (
    WATCHED_S,
    Idle,
    Moment,
    Seen,
)
from conformance.routing.liveness.silent_clients import (
    MEMBER_EXPIRY,
    PRODUCER_EXPIRY,
)

IDLE_LIMIT_S = 120
EXPIRY_S = 120
SCAN_S = 10.0
EARLY_S = 1.0
"""An observation after a response began a little later than its time."""
LATE_S = 6.0
"""Detection delay of a busy machine; on a hastened clock half a second."""


def expect_within(
    clause: str, found: Moment | None, *, first_s: float, last_s: float, what: str
) -> None:
    """Fail *clause* unless it happened in a stretch of time, in seconds of silence."""
    expect_that(
        clause,
        found is not None
        and found.by_s >= first_s - EARLY_S
        and found.after_s <= last_s + LATE_S,
        found=found or f"not within {WATCHED_S:g}",
        expected=f"{first_s:g} to {last_s:g}",
        what=what,
    )


def expect_removal(clause: str, seen: Seen, name: str, renewal: str) -> None:
    """Fail *clause* unless only the silent peer was removed, its connection closed."""
    for found, what in (
        (seen.removed, f"silent {name} is removed"),
        (seen.dropped, f"connection of a silent {name} is closed"),
    ):
        expect_within(
            clause,
            found,
            first_s=EXPIRY_S,
            last_s=EXPIRY_S + SCAN_S,
            what=f"seconds of silence until the {what}",
        )
    expect(
        clause,
        found=seen.missed[clause],
        expected=None,
        what=f"when a {name} was missing that {renewal} every 30 seconds",
    )


@pytest.mark.patient
@pytest.mark.needs("wire")
@pytest.mark.clause("ROUTE-LIVENESS-013")
def test_a_broker_that_registers_no_more_is_removed(silence: Seen) -> None:
    expect_removal("ROUTE-LIVENESS-013", silence, "broker", "registers")


@pytest.mark.patient
@pytest.mark.needs("wire")
@pytest.mark.settings(autoCreateSubscriptionGroup="true")
@pytest.mark.clause("GROUP-MEMBER-013")
def test_a_member_without_heartbeats_is_removed(silent_members: Seen) -> None:
    expect_removal(MEMBER_EXPIRY, silent_members, "member", "sends a heartbeat")


@pytest.mark.patient
@pytest.mark.needs("wire")
@pytest.mark.clause("GROUP-MEMBER-015")
def test_a_producer_without_heartbeats_is_removed(silent_producers: Seen) -> None:
    expect_removal(PRODUCER_EXPIRY, silent_producers, "producer", "sends a heartbeat")


@pytest.mark.patient
@pytest.mark.needs("wire")
@pytest.mark.parametrize(
    ("clause", "request_name"),
    [
        pytest.param(
            "ROUTE-LIVENESS-015",
            "QUERY_DATA_VERSION",
            marks=pytest.mark.clause("ROUTE-LIVENESS-015"),
        ),
        pytest.param(
            "ROUTE-LIVENESS-016",
            "BROKER_HEARTBEAT",
            marks=pytest.mark.clause("ROUTE-LIVENESS-016"),
        ),
    ],
)
def test_a_broker_that_sends_other_signs_of_life_stays(
    silence: Seen, target: Target, clause: str, request_name: str
) -> None:
    if target.is_foreign and clause in silence.lacking:
        unsupported(f"the target refuses the request {request_name}")
    expect(
        clause,
        found=silence.missed[clause],
        expected=None,
        what=f"when a broker was missing that sends {request_name} every 30 seconds",
    )


@pytest.mark.patient
@pytest.mark.needs("wire")
@pytest.mark.clause("WIRE-CONN-024")
def test_a_connection_without_a_word_is_closed(idle: Idle) -> None:
    for peer, found in idle.closed_s.items():
        expect_within(
            "WIRE-CONN-024",
            None if found is None else Moment(after_s=found, by_s=found),
            first_s=IDLE_LIMIT_S,
            last_s=IDLE_LIMIT_S + 2,
            what=f"seconds until the {peer} closes a connection without any byte",
        )
