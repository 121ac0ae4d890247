"""Runs on targets that break, lack requests, refuse them or write unusual headers."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.harness.baseline.baseline import Defect, check_steps, dump
from conformance.harness.baseline.baseline_verdicts import baseline_verdicts
from conformance.harness.baseline.steps import STEPS
from conformance.harness.child_run.child_run import run_child
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import parse_target
from conformance.meta.made_suite import (
    AS_4_6,
    BROKEN_SENDS,
    NEEDS_TOPIC,
    READS,
    run_made,
)
from conformance.meta.peers.hostile_peer import (
    EXIT_STATUS,
    LAST_WORDS,
    Habit,
    HostilePeer,
    running,
)
from spec.registry import all_clauses
from spec.wire.remoting.request_code import RequestCode

SENDS = """
@pytest.mark.clause("WIRE-FRAME-002", "WIRE-FRAME-003")
def test_sends(broker):
    require_success(broker.send_message(topic="T", body=b"x"))
"""
READS_LATER = """
@pytest.mark.clause("WIRE-FRAME-004")
def test_later(broker):
    require_success(broker.max_offset(topic="T"))
"""
BREAKS_QUIETLY = """
from contextlib import suppress

@pytest.mark.clause("WIRE-FRAME-002")
def test_breaks_quietly(broker):
    with suppress(Exception):
        broker.send_message(topic="T", body=b"x")
"""
ENDS_ITS_OWN = """
from contextlib import suppress

@pytest.mark.clause("WIRE-FRAME-002")
def test_ends_its_own(own_target):
    with suppress(AssertionError), own_target.connect_to_broker() as broker:
        broker.send_message(topic="T", body=b"x")
    while True:
        own_target.connect_to_broker().close()
"""
SENT_ONCE = """
SENT = []

@pytest.fixture
def sent_once(broker):
    if not SENT:
        SENT.append(broker.send_message(topic="T", body=b"x"))
    return SENT[0]

@pytest.mark.clause("WIRE-FRAME-007")
def test_that_sets_it_up(sent_once):
    fails("WIRE-FRAME-007")

@pytest.mark.clause("WIRE-FRAME-008")
def test_that_finds_it(sent_once):
    fails("WIRE-FRAME-008")
"""
REFUSED_ELSEWHERE = """
@pytest.mark.clause("SEND-RESPONSE-001")
def test_refused_elsewhere(broker):
    with broker.another() as other:
        refused = other.send_message(topic="refused", body=b"x")
        broker.max_offset(topic="the latest")
        require_success(refused)
"""


SENDS_ONEWAY = """
@pytest.mark.clause("WIRE-FRAME-006")
def test_sends_oneway(broker):
    broker.send_message(topic="T", body=b"x", code=10, oneway=True)
    fails("WIRE-FRAME-006")
"""


BLOCKS = """
from conformance.harness.blocked.skips import blocked

@pytest.mark.clause("WIRE-FRAME-007")
def test_blocks(broker):
    broker.send_message(topic="T", body=b"x", code=10)
    blocked("blocked by SEND-RESPONSE-001: the send is refused")
"""


def target_file(
    directory: Path, habit: Habit, *, capabilities: str = "", mark: str = ""
) -> str:
    """Return a target that is started as a program with a bad *habit*.

    With the name *mark* of a file, it has that habit once.
    """
    path = directory / "hostile.toml"
    path.write_text(
        'release = "4.6.0"\n'
        f"capabilities = [{capabilities}]\n"
        "[environment]\n"
        f'PYTHONPATH = "{SOURCES}"\n'
        "[broker]\n"
        'command = ["{python}", "-m", "conformance.meta.peers.hostile_peer",'
        f' "{habit}", "{{namesrv_port}}", "{{broker_port}}", "{mark}"]\n'
        'ready_line = "ready"\n',
        encoding="utf-8",
    )
    return f"cmd:{path}"


@pytest.mark.parametrize(
    "habit", [Habit.ENDS, pytest.param(Habit.HANGS, marks=pytest.mark.slow)]
)
def test_after_a_break_of_a_running_cluster_tests_are_blocked(
    tmp_path: Path, habit: Habit
) -> None:
    with running(habit) as address:
        ended = run_made(tmp_path, address, READS + SENDS + READS_LATER, AS_4_6)
    assert ended.outcomes == {
        "WIRE-FRAME-001": "pass",
        "WIRE-FRAME-002": "fail",
        "WIRE-FRAME-003": "unsupported",
        "WIRE-FRAME-004": "blocked",
    }
    assert ended.code == 1
    failure = ended.failures["WIRE-FRAME-002"]
    assert "test_made.py::test_sends ran: the " in failure.text
    assert "request 310 SEND_MESSAGE_V2" in failure.text
    assert "since " in ended.reasons["WIRE-FRAME-004"]


def test_tests_go_on_when_a_running_cluster_has_restarted(tmp_path: Path) -> None:
    peer, restarted = HostilePeer(Habit.ENDS), ExitStack()

    def restart() -> None:
        again = HostilePeer(Habit.LACKS_ADMIN, port=peer.broker.port)
        restarted.enter_context(again.server)

    def end() -> None:
        peer.server.stop()
        threading.Timer(1, restart).start()

    peer.end = end
    with restarted, peer.server:
        tests = READS + SENDS + READS_LATER
        ended = run_made(tmp_path, str(peer.broker), tests, AS_4_6)
    assert ended.outcomes["WIRE-FRAME-002"] == "fail"
    assert ended.outcomes["WIRE-FRAME-004"] == "pass"


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_test_that_passes_and_breaks_a_running_cluster_fails(
    tmp_path: Path, workers: list[str]
) -> None:
    words = ["--by-cause", f"--junitxml={tmp_path / 'junit.xml'}", *workers]
    with running(Habit.ENDS) as address:
        tests = READS + BREAKS_QUIETLY + READS_LATER
        ended = run_made(tmp_path, address, tests, AS_4_6, *words)
    assert ended.outcomes == {
        "WIRE-FRAME-001": "pass",
        "WIRE-FRAME-002": "fail",
        "WIRE-FRAME-004": "blocked",
    }
    lines = ended.output.splitlines()
    causes = next(n for n, line in enumerate(lines) if "= causes =" in line)
    headline = "target stopped answering during test_breaks_quietly; 1 clause blocked"
    assert lines[causes + 1] == headline
    assert "blocked: the " not in ended.output
    case = 'name="test_made.py.test_breaks_quietly"'
    assert case in (tmp_path / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_the_last_test_that_passes_and_breaks_a_running_cluster_fails(
    tmp_path: Path, workers: list[str]
) -> None:
    with running(Habit.ENDS) as address:
        tests = READS + BREAKS_QUIETLY
        ended = run_made(tmp_path, address, tests, AS_4_6, *workers)
    assert ended.outcomes == {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": "fail"}
    assert ended.code == 1


def test_the_requests_of_a_fixture_are_those_of_each_test(tmp_path: Path) -> None:
    with running(Habit.REFUSES_SENDS) as address:
        ended = run_made(tmp_path, address, SENT_ONCE, AS_4_6, has_baseline=True)
    assert ended.outcomes["WIRE-FRAME-007"] == "blocked"
    assert ended.outcomes["WIRE-FRAME-008"] == "blocked"


def test_a_refusal_is_shown_with_its_own_request(tmp_path: Path) -> None:
    with running(Habit.REFUSES_SENDS) as address:
        ended = run_made(tmp_path, address, REFUSED_ELSEWHERE, AS_4_6)
    text = ended.failures["SEND-RESPONSE-001"].text
    assert "sent      request 310 SEND_MESSAGE_V2" in text


def test_without_a_target_every_test_is_an_error(tmp_path: Path) -> None:
    tests = READS + BREAKS_QUIETLY
    ended = run_made(tmp_path, "127.0.0.1:1", tests, AS_4_6, has_baseline=True)
    assert set(ended.outcomes.values()) == {"error"}
    assert set(ended.reasons.values()) == {
        "the target 127.0.0.1:1 cannot be tested: no listener on 127.0.0.1:1"
    }
    assert ended.code == 3


def test_a_started_target_that_ends_is_replaced(tmp_path: Path) -> None:
    target = target_file(tmp_path, Habit.ENDS)
    ended = run_made(tmp_path, target, READS + SENDS + READS_LATER, AS_4_6)
    assert ended.outcomes["WIRE-FRAME-002"] == "fail"
    assert ended.outcomes["WIRE-FRAME-004"] == "pass"
    failure = ended.failures["WIRE-FRAME-002"]
    ended_with = f"it ended with exit status {EXIT_STATUS}: {LAST_WORDS}; the "
    assert failure.found.startswith(ended_with)
    assert LAST_WORDS in failure.text


BREAKS_BEFORE_ITS_CLEANUP = """
from contextlib import suppress
from conformance.harness.client.client import Client

@pytest.fixture
def cleaned(target):
    address = target.broker
    yield
    while True:
        Client.connect(address).close()

@pytest.mark.clause("WIRE-FRAME-002", "WIRE-FRAME-005")
def test_sends(cleaned, broker):
    with SUPPRESSED:
        require_success(broker.send_message(topic="T"))
"""


@pytest.mark.parametrize(
    ("suppressed", "other"), [("", "unsupported"), ("AssertionError", "pass")]
)
def test_the_cleanup_at_a_broken_target_is_no_error_but_shows_the_break(
    tmp_path: Path, suppressed: str, other: str
) -> None:
    target = target_file(tmp_path, Habit.ENDS)
    tests = BREAKS_BEFORE_ITS_CLEANUP.replace("SUPPRESSED", f"suppress({suppressed})")
    ended = run_made(tmp_path, target, tests, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-002": "fail", "WIRE-FRAME-005": other}


def test_the_end_of_a_tests_own_target_is_named(tmp_path: Path) -> None:
    target = target_file(tmp_path, Habit.ENDS, capabilities='"restart"')
    ended = run_made(tmp_path, target, ENDS_ITS_OWN, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-002": "error"}
    reason = ended.reasons["WIRE-FRAME-002"]
    assert f"ended with exit status {EXIT_STATUS}; " in reason
    assert LAST_WORDS in reason


def test_of_several_workers_only_the_breaking_test_fails(tmp_path: Path) -> None:
    target = target_file(tmp_path, Habit.ENDS)
    tests = READS + SENDS + READS_LATER
    ended = run_made(tmp_path, target, tests, AS_4_6, "-n", "3", "--dist=load")
    failed = {name for name, outcome in ended.outcomes.items() if outcome == "fail"}
    assert failed == {"WIRE-FRAME-002"}
    assert ended.outcomes["WIRE-FRAME-001"] == "pass"
    assert ended.outcomes["WIRE-FRAME-004"] == "pass"


@pytest.mark.parametrize(
    "tests", [READS + SENDS, BREAKS_QUIETLY + READS_LATER, READS + BREAKS_QUIETLY]
)
def test_the_end_of_the_workers_target_that_none_repeats_is_an_error(
    tmp_path: Path, tests: str
) -> None:
    target = target_file(tmp_path, Habit.ENDS, mark=str(tmp_path / "ended"))
    ended = run_made(tmp_path, target, tests, AS_4_6, "-n", "1", "--by-cause")
    assert "fail" not in ended.outcomes.values()
    assert ended.outcomes["WIRE-FRAME-002"] == "error"
    assert ended.code == 3
    reason = ended.reasons["WIRE-FRAME-002"]
    assert f"another one ran: it ended with exit status {EXIT_STATUS}" in reason
    assert LAST_WORDS in reason
    assert LAST_WORDS in ended.output


def test_a_fixture_that_needs_a_lacking_request_is_unsupported(tmp_path: Path) -> None:
    with running(Habit.LACKS_ADMIN) as address:
        ended = run_made(tmp_path, address, READS + NEEDS_TOPIC, AS_4_6)
    assert ended.outcomes["WIRE-FRAME-005"] == "unsupported"
    assert ended.code == 0


@pytest.mark.parametrize(
    ("habit", "outcome"),
    [(Habit.LACKS_SEND, "unsupported"), (Habit.NULL_FIELDS, "fail")],
)
def test_a_failure_after_a_lacking_oneway_request_is_unsupported(
    tmp_path: Path, habit: Habit, outcome: str
) -> None:
    with running(habit) as address:
        ended = run_made(tmp_path, address, SENDS_ONEWAY, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-006": outcome}
    is_lacking = outcome == "unsupported"
    reason = "the target refuses the request SEND_MESSAGE" if is_lacking else ""
    assert ended.reasons["WIRE-FRAME-006"] == reason


def test_a_test_that_a_lacking_request_blocks_is_unsupported(tmp_path: Path) -> None:
    with running(Habit.LACKS_SEND) as address:
        ended = run_made(tmp_path, address, BLOCKS, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-007": "unsupported"}
    assert ended.code == 3
    assert ended.reasons["WIRE-FRAME-007"] == (
        "the target refuses the request SEND_MESSAGE"
    )


def test_without_its_settings_a_broker_that_stops_has_no_verdict(
    tmp_path: Path,
) -> None:
    target = target_file(tmp_path, Habit.NULL_FIELDS, capabilities='"restart"')
    file = (
        SOURCES / "conformance" / "routing" / "broker" / "test_broker_announcements.py"
    )
    ended = run_child([file], f"--target={target}", "-k", "says_goodbye")
    assert ended.outcomes == {"ROUTE-OUTERAPI-006": "unsupported"}
    assert ended.reasons["ROUTE-OUTERAPI-006"].endswith("does not allow: config")


def test_a_fixture_whose_request_is_refused_blocks_the_test(tmp_path: Path) -> None:
    with running(Habit.REFUSES_ADMIN) as address:
        ended = run_made(tmp_path, address, READS + NEEDS_TOPIC, AS_4_6)
    assert ended.outcomes["WIRE-FRAME-005"] == "blocked"
    assert ended.reasons["WIRE-FRAME-005"] == (
        "blocked by ADMIN-TOPIC-001, UPDATE_AND_CREATE_TOPIC:"
        " refused with code 1: not today"
    )
    assert ended.code == 3


def test_a_response_with_null_for_its_fields_is_read(tmp_path: Path) -> None:
    with running(Habit.NULL_FIELDS) as address:
        ended = run_made(tmp_path, address, READS, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-001": "pass"}


def test_a_word_for_a_number_is_shown_with_its_bytes(tmp_path: Path) -> None:
    with running(Habit.TEXT_FOR_NUMBER) as address:
        ended = run_made(tmp_path, address, READS, AS_4_6)
    failure = ended.failures["WIRE-FRAME-001"]
    assert "'fine' is no integer" in failure.found
    assert failure.expected == "a valid response"
    assert "22 66 69 6e 65 22" in failure.text


def test_a_request_that_never_succeeds_blocks_the_tests_that_use_it(
    tmp_path: Path,
) -> None:
    with running(Habit.REFUSES_SENDS) as address:
        ended = run_made(tmp_path, address, BROKEN_SENDS, AS_4_6, has_baseline=True)
    assert ended.outcomes["PULL-COUNT-001"] == "blocked"
    assert ended.reasons["PULL-COUNT-001"] == (
        "blocked by SEND-RESPONSE-001, SEND_MESSAGE_V2: refused with code 1: not today"
    )
    assert ended.outcomes["SEND-RESPONSE-001"] == "fail"
    assert ended.outcomes["WIRE-FRAME-001"] == "fail"
    assert ended.reasons["WIRE-FRAME-002"].startswith("blocked by SEND-RESPONSE-001")
    assert ended.failures["SEND-RESPONSE-001"].found == (
        "refused with code 1: not today"
    )


STORED_VALUE = """
@pytest.mark.clause("WIRE-JSON-007")
def test_a_value(namesrv):
    require_success(namesrv.put_kv(namespace="N", key="k", value="v"))
    require_success(namesrv.get_kv(namespace="N", key="k"))
    fails("WIRE-JSON-007")
"""


def test_a_name_server_that_stores_nothing_blocks_tests_of_stored_values(
    tmp_path: Path,
) -> None:
    with running(Habit.STORES_NOTHING) as address:
        ended = run_made(tmp_path, address, STORED_VALUE, AS_4_6, has_baseline=True)
    assert ended.outcomes["ROUTE-KV-001"] == "fail"
    assert ended.outcomes["WIRE-JSON-007"] == "blocked"
    assert ended.reasons["WIRE-JSON-007"].startswith("blocked by ROUTE-KV-001")


def test_a_baseline_that_breaks_the_target_blocks_the_run(tmp_path: Path) -> None:
    with running(Habit.ENDS) as address:
        ended = run_made(tmp_path, address, READS, AS_4_6, has_baseline=True)
    assert ended.outcomes["SEND-RESPONSE-001"] == "fail"
    assert ended.outcomes["WIRE-FRAME-001"] == "blocked"
    assert "since the baseline" in ended.reasons["WIRE-FRAME-001"]


def test_a_failed_step_of_the_baseline_has_its_frames(tmp_path: Path) -> None:
    with running(Habit.REFUSES_SENDS) as address:
        ended = run_made(tmp_path, address, READS, AS_4_6, has_baseline=True)
    text = ended.failures["SEND-RESPONSE-001"].text
    assert "-> request 310 SEND_MESSAGE_V2 " in text
    assert "GET_ROUTEINFO_BY_TOPIC" not in text, "only the frames of this step"
    assert "-> request 310 SEND_MESSAGE_V2 " in ended.output


def test_the_frames_of_the_test_that_breaks_are_its_own(tmp_path: Path) -> None:
    target = target_file(tmp_path, Habit.ENDS)
    ended = run_made(tmp_path, target, READS + SENDS, AS_4_6, has_baseline=True)
    assert "body[1]='x'" in ended.failures["WIRE-FRAME-002"].text


def test_a_healthy_target_has_no_defect() -> None:
    with parse_target("embedded:") as target:
        checked = check_steps(target, may_write=True)
    assert checked.defects == []
    steps = [one for one in STEPS if all_clauses()[one.clause].applies_to("4.6.0")]
    assert checked.passed == [one.name for one in steps]


def defect(clause: str, what: str, codes: tuple[int, ...]) -> Defect:
    """Return a defect of one clause."""
    return Defect(
        step="a step",
        clause=clause,
        what=what,
        found="1",
        expected="2",
        text="",
        codes=codes,
    )


def test_a_defect_explains_failures_of_tests_that_use_its_request() -> None:
    pull = defect("PULL-FOUND-002", "nextBeginOffset", (RequestCode.PULL_MESSAGE,))
    assert pull.explains({RequestCode.PULL_MESSAGE}, ())
    assert not pull.explains({RequestCode.SEND_MESSAGE}, ())
    assert defect("WIRE-FRAME-002", "", ()).explains({RequestCode.SEND_MESSAGE}, ())


@pytest.mark.parametrize("profile", [None, "5.3"])
def test_a_defect_is_repeated_with_the_profile_of_the_run(profile: str | None) -> None:
    found = [defect("PULL-FOUND-002", "nextBeginOffset", ())]
    description = {"text": "127.0.0.1:1", "release": "5.3.3", "baseline": dump(found)}
    (verdict,) = baseline_verdicts(description, (), profile)
    given = f" --profile {profile}" if profile else ""
    assert verdict.again == (
        f"rmqc test --target '127.0.0.1:1'{given} --only PULL-FOUND-002 -v"
    )


def test_a_minor_defect_explains_only_the_same_wrong_value() -> None:
    codes = (RequestCode.GET_ROUTEINFO_BY_TOPIC,)
    route = defect("ROUTE-DATA-001", "read and write queues", codes)
    assert not route.explains(codes, ["code"])
    assert not route.explains(codes, ["queues"])
    assert route.explains(codes, ["write queues by broker"])
    born = defect("SEND-TIME-001", "born time", codes)
    assert not born.explains(codes, ["born_host"])
    assert born.explains(codes, ["born_at_ms"])


def test_a_wrong_record_concerns_every_test_that_sends() -> None:
    with parse_target("mutant:queue_offset_off_by_one") as target:
        first = check_steps(target, may_write=True).defects[0]
    assert first.clause == "STORE-RECORD-005"
    assert first.explains({RequestCode.SEND_MESSAGE_V2}, ())
