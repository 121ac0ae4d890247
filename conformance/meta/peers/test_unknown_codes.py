"""Servers that leave unknown request codes unanswered, or close the connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.baseline.baseline import check_steps
from conformance.harness.baseline.unknown_codes import explained_by
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.transcript import Direction, Transcript
from conformance.harness.targets.target import parse_target
from conformance.meta.made_suite import run_made
from conformance.meta.peers.hostile_peer import Habit, running
from conformance.meta.reports.made_transcripts import transcript_of
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

TESTS = """
@pytest.mark.clause("PULL-COUNT-001")
def test_of_a_lacking_request(broker):
    require_success(broker.send_message(topic="T", body=b"x", code=10))

@pytest.mark.clause("WIRE-FRAME-001")
def test_of_another_request(namesrv):
    require_success(namesrv.cluster_info())
    fails("WIRE-FRAME-001")
"""
SENT = Direction.SENT, Command(code=RequestCode.SEND_MESSAGE, opaque=7)


@pytest.mark.parametrize(
    ("habit", "profile", "expected"),
    [
        (Habit.CLOSES, "4.6", {"WIRE-CONN-002", "WIRE-CONN-004"}),
        (Habit.CLOSES, "4.9", {"WIRE-CONN-003", "WIRE-CONN-004"}),
        (Habit.CLOSES, "5.3", {"WIRE-CONN-003", "WIRE-CONN-005"}),
        (Habit.STAYS_SILENT, "4.6", set()),
        (Habit.LACKS_SEND, "4.6", set()),
        (Habit.LACKS_SEND, "5.3", set()),
    ],
)
def test_the_reaction_is_that_of_the_release(
    habit: Habit, profile: str, expected: set[str]
) -> None:
    with (
        running(habit) as address,
        parse_target(address, profile=profile) as target,
    ):
        defects = check_steps(target, may_write=False).defects
    found = {one.clause for one in defects if one.step.startswith("an unknown")}
    assert found == expected


def test_a_lacking_request_blocks_its_tests_alone(tmp_path: Path) -> None:
    with running(Habit.CLOSES) as address:
        ended = run_made(tmp_path, address, TESTS, "--profile=4.9", has_baseline=True)
    assert ended.outcomes["WIRE-CONN-003"] == "fail"
    assert ended.outcomes["WIRE-FRAME-001"] == "fail"
    # One address is the name server and the broker.
    assert ended.reasons["PULL-COUNT-001"].startswith("blocked by WIRE-CONN-004")


@pytest.mark.parametrize(
    ("clauses", "has_request", "explains"),
    [
        ({"WIRE-CONN-003"}, False, True),
        ({"WIRE-CONN-003"}, True, False),
        ({"WIRE-FRAME-001"}, False, False),
    ],
)
def test_a_request_that_has_a_response_without_fields_explains_nothing(
    clauses: set[str], has_request: bool, explains: bool
) -> None:
    with LyingServer(lambda one: honest(one) if has_request else b"") as server:
        transcript = Transcript(peer=str(server.address))
        for entry in transcript_of(SENT):
            transcript.add(entry)
        found = explained_by(clauses, [transcript], namesrv="", access="")
    assert bool(found) is explains
