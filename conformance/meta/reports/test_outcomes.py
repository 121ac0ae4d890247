"""
Seven outcomes: made-up tests are run on a lying cluster, and the report is read.

Reading it checks it against its schema.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.meta.made_suite import (
    FAILS,
    NEEDS_TOPIC,
    PASSES,
    READS,
    known_file,
    run_faulty,
)
from spec.wire.remoting.response_code import ResponseCode

BUSY = {
    ResponseCode.SYSTEM_BUSY: "SEND-STATE-014",
    ResponseCode.SERVICE_NOT_AVAILABLE: "SEND-STATE-003",
}
"""Responses of a busy target, each with a clause that requires it."""


def test_a_pass_and_a_failure_are_told_apart(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, PASSES + FAILS)
    assert ended.outcomes == {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "fail"}
    assert ended.code == 1
    assert ended.report.target.release == "4.9.7"
    assert ended.report.totals["pass"] == 1
    failure = ended.failures["WIRE-FRAME-002"]
    assert (failure.found, failure.expected) == ("code: 1", "code: 2")


def test_a_failure_teaches(tmp_path: Path) -> None:
    output = run_faulty(tmp_path, FAILS).output
    for part in (
        "WIRE-FRAME-002 (MUST) is not met.",
        "low 24 bits",
        "got       code: 1",
        "expected  code: 2",
        "request 30 GET_MAX_OFFSET",
        "^^^^^^^^",
        "RemotingCommand#getHeaderLength",
        "rmqc test --target '127.0.0.1:",
        "-k 'test_fails' -v",
    ):
        assert part in output, part
    assert "Traceback" not in output


WITHOUT_TRANSCRIPT = """
@pytest.mark.clause("WIRE-FRAME-002")
@pytest.mark.parametrize("tag", ["a || b", "c"])
def test_fails_apart(broker, tag):
    response = broker.max_offset(topic="T", queue_id=0)
    if tag != "c":
        expect("WIRE-FRAME-002", found=response.code, expected=2)
"""


def test_a_failure_without_a_transcript_shows_the_tests_frames(tmp_path: Path) -> None:
    output = run_faulty(tmp_path, WITHOUT_TRANSCRIPT).output
    assert "request 30 GET_MAX_OFFSET" in output
    assert "-k 'test_fails_apart[a and b]' -v" in output


def test_what_stopped_before_its_verdict_is_not_green(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, FAILS)
    assert ended.outcomes["WIRE-FRAME-001"] == "unsupported"


REFUSALS = """
from conformance.harness.client.client import body_of

@pytest.mark.clause("TXN-END-001")
def test_needs_a_send(broker):
    require_success(broker.send_message(topic="T"))

@pytest.mark.clause("SEND-TOPIC-001")
def test_is_about_a_send(broker):
    require_success(broker.send_message(topic="T"))

@pytest.mark.clause("GROUP-LOCK-001")
def test_reads_a_missing_member(namesrv):
    body_of(namesrv.cluster_info())["table"]
"""


def test_a_refused_step_before_the_clauses_own_blocks_it(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, REFUSALS, changes={"code": 13})
    assert ended.outcomes == {
        "GROUP-LOCK-001": "fail",
        "SEND-TOPIC-001": "fail",
        "TXN-END-001": "blocked",
    }
    assert ended.failures["GROUP-LOCK-001"].expected == "a body with table"
    assert ended.reasons["TXN-END-001"].startswith(
        "blocked by SEND-RESPONSE-001, SEND_MESSAGE_V2: refused with"
    )


@pytest.mark.parametrize("code", BUSY)
def test_a_busy_target_has_no_verdict(tmp_path: Path, code: ResponseCode) -> None:
    ended = run_faulty(tmp_path, READS + NEEDS_TOPIC, changes={"code": code})
    busy = f"the target is busy: {code.name} ({code:d}) to"
    assert ended.reasons == {
        "WIRE-FRAME-001": f"{busy} GET_MAX_OFFSET",
        "WIRE-FRAME-005": f"{busy} UPDATE_AND_CREATE_TOPIC",
    }
    assert set(ended.outcomes.values()) == {"blocked"}
    assert ended.code == 3


IS_BUSY = """
@pytest.mark.clause("CLAUSE")
def test_is_busy(broker):
    assert broker.send_message(topic="T").code == CODE
    fails("CLAUSE")
"""


@pytest.mark.parametrize(("code", "clause"), BUSY.items())
def test_a_clause_about_the_response_of_a_busy_target_may_fail(
    tmp_path: Path, code: ResponseCode, clause: str
) -> None:
    test = IS_BUSY.replace("CLAUSE", clause).replace("CODE", str(int(code)))
    ended = run_faulty(tmp_path, test, changes={"code": code})
    assert ended.outcomes == {clause: "fail"}


RANDOM = """
from conformance.harness.blocked.preconditions import precondition

seen = set()
prepared = set()

@pytest.mark.clause("OFFSET-MAX-001", "OFFSET-MIN-001")
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_draws_on(broker, data):
    drawn = data.draw(st.booleans())
    if drawn in seen:
        require_success(broker.max_offset(topic="T"))
    seen.add(drawn)
    data.draw(st.booleans())

@pytest.mark.clause("SEND-QUEUE-001")
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_prepares(broker, data):
    drawn = data.draw(st.booleans())
    if drawn in prepared:
        with precondition():
            require_success(broker.max_offset(topic="T"))
    prepared.add(drawn)
    data.draw(st.booleans())
"""


def test_a_refusal_at_random_is_shown_with_its_code(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, RANDOM, changes={"code": 13})
    assert ended.outcomes == {
        "OFFSET-MAX-001": "fail",
        "OFFSET-MIN-001": "unsupported",
        "SEND-QUEUE-001": "blocked",
    }
    assert ended.failures["OFFSET-MAX-001"].found.startswith("refused with code 13")
    assert "Inconsistent data generation" not in ended.output


LARGE = """
@pytest.mark.clause("OFFSET-MAX-001")
@settings(suppress_health_check=list(HealthCheck))
@given(body=st.just(bytes(100_000)))
def test_of_a_large_body(broker, body):
    require_success(broker.send_message(topic="T", body=body))
"""


def test_a_large_example_is_no_failure_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "conformance" / "wire"
    folder.mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", "utf-8")
    ended = run_faulty(tmp_path, LARGE, changes={"code": 13})
    assert ended.reasons["OFFSET-MAX-001"].startswith("blocked by SEND-RESPONSE-001")


TOO_LATE = """
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect_in_time

@pytest.mark.clause("OFFSET-MAX-001", "OFFSET-MIN-001")
def test_waits(broker):
    with broker.another() as other:
        other.min_offset(topic="T")
    broker.max_offset(topic="T")
    wait_until(lambda: False, what="queue 0 holds 2 messages", timeout_s=0.1)

@pytest.mark.clause("SEND-QUEUE-001")
def test_waits_for_a_value(broker):
    read = lambda: broker.max_offset(topic="T").code
    expect_in_time("SEND-QUEUE-001", read, expected=1, what="code", timeout_s=0.1)
"""


def test_a_wait_in_vain_is_shown_with_the_values(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, TOO_LATE)
    assert ended.outcomes == {
        "OFFSET-MAX-001": "fail",
        "OFFSET-MIN-001": "unsupported",
        "SEND-QUEUE-001": "fail",
    }
    for line in (
        "got       nothing after 0.1 s",
        "expected  queue 0 holds 2 messages",
        "-> request 31 GET_MIN_OFFSET",
        "-> request 30 GET_MAX_OFFSET",
        "got       code, at most 0.1 s later: 0",
        "expected  code, at most 0.1 s later: 1",
    ):
        assert line in ended.output, line
    assert "Traceback" not in ended.output
    assert "wait_until(" not in ended.output


UNMET = """
from conformance.harness.pytest_plugin.fixtures import create_topic

@pytest.fixture
def left_behind(broker):
    yield
    require_success(broker.send_message(topic="T"))

@pytest.mark.clause("WIRE-FRAME-001")
def test_creates_a_topic(target):
    create_topic(target, "made")

@pytest.mark.clause("WIRE-FRAME-002")
def test_leaves_something(left_behind):
    pass
"""


def test_only_the_step_of_a_test_is_charged(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, UNMET, changes={"code": 13})
    assert ended.outcomes == {"WIRE-FRAME-001": "blocked", "WIRE-FRAME-002": "pass"}
    assert ended.reasons["WIRE-FRAME-001"].startswith(
        "blocked by ADMIN-TOPIC-001, UPDATE_AND_CREATE_TOPIC: refused with"
    )


WRONG_OPAQUE = """
from conformance.harness.client.peer_errors import WrongOpaqueError

@pytest.mark.clause("WIRE-FRAME-001")
def test_meets_a_wrong_opaque(broker):
    raise WrongOpaqueError("the response has opaque 8", broker.transcript)
"""


def test_a_wrong_opaque_is_charged_to_the_clause_about_opaques(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, WRONG_OPAQUE)
    assert ended.outcomes == {
        "WIRE-COMMAND-003": "fail",
        "WIRE-FRAME-001": "unsupported",
    }
    found = ended.failures["WIRE-COMMAND-003"].found
    assert found == "the response has opaque 8"


KNOWN_BLOCKER = """
@pytest.mark.clause("SEND-RESPONSE-001")
def test_fails(broker):
    fails("SEND-RESPONSE-001")

@pytest.mark.clause("WIRE-FRAME-002")
def test_is_blocked():
    pytest.skip("blocked: blocked by SEND-RESPONSE-001: the send of a message fails")
"""


@pytest.mark.parametrize(("known", "code"), [("SEND-RESPONSE-001", 0), ("", 1)])
def test_what_a_known_failure_blocks_is_no_new_failure(
    tmp_path: Path, known: str, code: int
) -> None:
    options = [known_file(tmp_path, known)] if known else []
    ended = run_faulty(tmp_path, KNOWN_BLOCKER, *options)
    assert ended.outcomes["WIRE-FRAME-002"] == "blocked"
    assert ended.code == code


def test_what_is_not_as_recorded_of_the_release_is_named(tmp_path: Path) -> None:
    output = " ".join(run_faulty(tmp_path, PASSES + FAILS).output.split())
    assert "evidence of 4.9.7" in output
    assert "1 outcomes as recorded, 1 otherwise, 0 without a verdict here" in output
    assert "differs WIRE-FRAME-002 here fail, recorded pass: The low" in output


def test_a_difference_is_a_finding_only_against_the_evidence(tmp_path: Path) -> None:
    (tmp_path / "against").mkdir()
    known = known_file(tmp_path, "WIRE-FRAME-002")
    assert run_faulty(tmp_path, FAILS, known).code == 0
    assert (
        run_faulty(tmp_path / "against", FAILS, known, "--against-evidence").code == 1
    )


BEYOND = """
@pytest.mark.clause("INDEX-KEY-005")
def test_of_later_releases(broker):
    fails("INDEX-KEY-005")
"""


def test_clauses_of_other_releases_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "beyond").mkdir()
    assert run_faulty(tmp_path, PASSES + BEYOND).outcomes == {
        "INDEX-KEY-005": "not-applicable",
        "WIRE-FRAME-001": "pass",
    }
    assert run_faulty(
        tmp_path / "beyond", PASSES + BEYOND, "--beyond-range"
    ).outcomes == {
        "INDEX-KEY-005": "fail",
        "WIRE-FRAME-001": "not-applicable",
    }


PARTLY_BEYOND = """
@pytest.mark.clause("WIRE-FRAME-001", "INDEX-KEY-005")
def test_partly_of_later_releases(broker):
    fails("INDEX-KEY-005")
"""


def test_no_clause_of_other_releases_fails(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, PARTLY_BEYOND)
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported"}
    assert "it ends at INDEX-KEY-005, about other releases" in ended.output


def test_a_known_failure_fails_nothing(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, PASSES + FAILS, known_file(tmp_path, "WIRE-FRAME-002"))
    assert ended.outcomes["WIRE-FRAME-002"] == "known"
    assert ended.code == 0
    assert "it is so" in ended.output


def test_a_stale_known_failure_fails(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, PASSES, known_file(tmp_path, "WIRE-FRAME-001"))
    assert ended.outcomes == {"WIRE-FRAME-001": "fail"}
    assert ended.code == 1
    assert "remove the entry" in ended.failures["WIRE-FRAME-001"].text


def test_another_release_is_not_applicable(tmp_path: Path) -> None:
    tests = '@pytest.mark.clause("STORE-RECORD-003")\ndef test_v2(): fails("X")\n'
    ended = run_faulty(tmp_path, tests)
    assert ended.outcomes == {"STORE-RECORD-003": "not-applicable"}
    assert ended.code == 3
    assert "checked nothing: 1 not-applicable" in ended.output


def test_a_profile_overrides_the_release(tmp_path: Path) -> None:
    tests = '@pytest.mark.clause("STORE-RECORD-003")\ndef test_v2(): pass\n'
    ended = run_faulty(tmp_path, tests, "--profile=5.3")
    assert ended.outcomes == {"STORE-RECORD-003": "pass"}
    assert ended.report.target.release == "5.3.3"


@pytest.mark.parametrize(
    "line",
    [
        "@pytest.mark.needs(Capability.KILL)\ndef test_it(): pass",
        "def test_it(own_target): pass",
        "def test_it():\n    pytest.skip('not today')",
    ],
)
def test_what_the_target_does_not_allow_is_unsupported(
    tmp_path: Path, line: str
) -> None:
    ended = run_faulty(tmp_path, f'@pytest.mark.clause("WIRE-FRAME-001")\n{line}\n')
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported"}
    assert ended.code == 3


def test_read_only_leaves_writers_out(tmp_path: Path) -> None:
    marked = '@pytest.mark.read_only\n@pytest.mark.clause("WIRE-FRAME-003")\n'
    tests = PASSES + marked + "def test_reads(): pass\n"
    ended = run_faulty(tmp_path, tests, "--read-only")
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported", "WIRE-FRAME-003": "pass"}


def test_a_broken_fixture_is_an_error(tmp_path: Path) -> None:
    tests = """
@pytest.fixture
def broken():
    raise OSError("the disk is full")

@pytest.mark.clause("WIRE-FRAME-001")
def test_it(broken): pass
"""
    ended = run_faulty(tmp_path, tests)
    assert ended.outcomes == {"WIRE-FRAME-001": "error"}
    assert ended.code == 3


def test_an_exception_of_a_test_is_an_error_with_its_frames(tmp_path: Path) -> None:
    tests = """
@pytest.mark.clause("WIRE-FRAME-001")
def test_it(broker):
    broker.max_offset(topic="T")
    [][0]
"""
    ended = run_faulty(tmp_path, tests)
    assert ended.outcomes == {"WIRE-FRAME-001": "error"}
    assert ended.code == 3
    text = ended.failures["WIRE-FRAME-001"].text
    assert text.startswith("IndexError: list index out of range")
    assert "request 30 GET_MAX_OFFSET" in text


CHECKSUMS = """
from spec.layout import LayoutError

def raise_wrong_checksum():
    raise LayoutError("0x01 stored, 0x02 computed", field="body_crc", offset=8)

@pytest.fixture
def stored():
    raise_wrong_checksum()

@pytest.mark.clause("WIRE-FRAME-001")
def test_reads_a_store(stored): pass

@pytest.mark.clause("WIRE-FRAME-002")
def test_reads_a_response(broker):
    broker.max_offset(topic="T")
    raise_wrong_checksum()
"""


def test_a_record_that_cannot_be_read_is_no_error_of_ours(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, CHECKSUMS)
    assert ended.outcomes == {
        "STORE-CRC-001": "fail",
        "WIRE-FRAME-001": "blocked",
        "WIRE-FRAME-002": "unsupported",
    }
    found = "body_crc at byte 8: 0x01 stored, 0x02 computed"
    assert ended.reasons["WIRE-FRAME-001"] == f"blocked by STORE-CRC-001, {found}"
    assert ended.failures["STORE-CRC-001"].found == found
    assert "what came back" in ended.failures["STORE-CRC-001"].text


def test_a_missing_header_field_fails_the_first_clause(tmp_path: Path) -> None:
    tests = """
@pytest.mark.clause("WIRE-FRAME-001", "WIRE-FRAME-002")
def test_it(broker):
    broker.max_offset(topic="T").fields["offset"]
"""
    ended = run_faulty(tmp_path, tests)
    assert ended.outcomes == {
        "WIRE-FRAME-001": "fail",
        "WIRE-FRAME-002": "unsupported",
    }
    found = ended.failures["WIRE-FRAME-001"].found
    assert found == "the response has no header field offset"


def test_a_test_without_a_clause_is_refused(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, "def test_nameless(): pass\n")
    assert "names its clause with a marker" in ended.output
    assert ended.code == 4


def test_a_clause_that_is_not_is_refused(tmp_path: Path) -> None:
    tests = '@pytest.mark.clause("WIRE-FRAME-999")\ndef test_it(): pass\n'
    assert "there is no clause WIRE-FRAME-999" in run_faulty(tmp_path, tests).output


def test_a_generated_case_is_shown_shrunk(tmp_path: Path) -> None:
    tests = """
@pytest.mark.clause("WIRE-FRAME-002")
@given(size=st.integers(0, 2**16))
def test_sizes(size):
    expect("WIRE-FRAME-002", found=size % 256, expected=size, what="header_size")
"""
    ended = run_faulty(tmp_path, tests)
    assert "expected  header_size: 256" in ended.output
    assert "size=256" in ended.output


def test_workers_share_one_target_and_one_report(tmp_path: Path) -> None:
    ended = run_faulty(tmp_path, PASSES + FAILS, "-n", "2")
    assert ended.outcomes == {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "fail"}
    assert ended.code == 1


def test_a_run_may_end_when_each_wanted_clause_has_failed(tmp_path: Path) -> None:
    again = FAILS.replace("test_fails", "test_fails_again")
    wanted = ["--only-clauses=WIRE-FRAME-002", "-n0"]
    assert "2 failed" in run_faulty(tmp_path / "all", FAILS + again, *wanted).output
    ended = run_faulty(tmp_path / "one", FAILS + again, *wanted, "--until-failed")
    assert "1 failed" in ended.output
    assert ended.code == 1
