"""An error response with an opaque of no request is two defects of the baseline."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET  # the file is our own

from conformance.harness.baseline.baseline import check_steps
from conformance.harness.targets.target import parse_target
from conformance.meta.made_suite import AS_4_6, BROKEN_SENDS, run_made
from conformance.meta.peers.hostile_peer import Habit, running

REFUSED = "refused with code 1: not forwarded"


def test_the_refusal_blocks_and_the_opaque_fails(tmp_path: Path) -> None:
    with running(Habit.WRONG_OPAQUES) as address:
        ended = run_made(tmp_path, address, BROKEN_SENDS, AS_4_6, has_baseline=True)
    assert ended.failures["SEND-RESPONSE-001"].found == REFUSED
    assert "has opaque" in ended.failures["WIRE-COMMAND-003"].found
    assert ended.reasons["PULL-COUNT-001"].startswith("blocked by SEND-RESPONSE-001")
    assert "WIRE-COMMAND-003  (" not in ended.output, "it blocks nothing"


def test_a_case_of_the_baseline_names_its_clause(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    with running(Habit.WRONG_OPAQUES) as address:
        run_made(
            tmp_path,
            address,
            BROKEN_SENDS,
            AS_4_6,
            f"--junitxml={file}",
            has_baseline=True,
        )
    texts = [
        failure.text or ""
        for case in ET.parse(file).getroot().iter("testcase")  # noqa: S314
        for failure in case.iter("failure")
        if case.attrib["classname"] == "baseline"
    ]
    assert [text.partition(" ")[0] for text in texts] == [
        "SEND-RESPONSE-001",
        "WIRE-COMMAND-003",
    ]
    assert all(text.count("-> request 310 SEND_MESSAGE_V2 ") == 1 for text in texts)


def test_the_opaques_of_error_responses_block_only_where_they_are_seen() -> None:
    with (
        running(Habit.ZERO_OPAQUES) as address,
        parse_target(address, profile="4.6") as target,
    ):
        defects = check_steps(target, may_write=False).defects
    assert {one.clause for one in defects} == {"WIRE-COMMAND-003"}
    assert not any(one.blocks_all for one in defects)
