"""On a running cluster, tests that rely on a setting run only where it is so."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.harness.baseline.refusing_settings import (
    LARGE_MESSAGES,
    refuses_more,
)
from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.client import Client
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.pytest_plugin.known_settings import (
    TRIES,
    changed,
    need_defaults,
    need_settings,
)
from conformance.harness.targets.target import Capability, Target, parse_target
from conformance.meta.made_suite import AS_4_6, run_made
from conformance.meta.peers.hostile_peer import Habit, running
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

ROOT = Path(__file__).parents[3]
RELYING = """
@pytest.mark.settings(enablePropertyFilter="false")
@pytest.mark.clause("WIRE-FRAME-001")
def test_relies_on_another_value(broker):
    pass

@pytest.mark.settings(enablePropertyFilter="true", madeUp="1")
@pytest.mark.clause("WIRE-FRAME-002")
def test_relies_on_the_same_value(broker):
    pass
"""


def test_a_test_that_relies_on_another_setting_has_no_verdict(tmp_path: Path) -> None:
    with parse_target("embedded:?enablePropertyFilter=true") as target:
        ended = run_made(tmp_path, str(target.namesrv), RELYING)
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported", "WIRE-FRAME-002": "pass"}
    assert ended.reasons["WIRE-FRAME-001"] == (
        "it needs the settings enablePropertyFilter=false (true there)"
    )


FAILING = """
@pytest.mark.settings(enablePropertyFilter="true")
@pytest.mark.clause("WIRE-FRAME-001")
def test_relies_on_a_setting_and_fails(broker):
    fails("WIRE-FRAME-001")
"""


def test_a_target_that_reports_no_settings_still_fails(tmp_path: Path) -> None:
    with running(Habit.LACKS_SETTINGS) as address:
        ended = run_made(tmp_path, address, FAILING, AS_4_6)
    assert ended.outcomes == {"WIRE-FRAME-001": "fail"}


MESSAGING = ROOT / "conformance" / "messaging"


@pytest.mark.parametrize(
    ("file", "clauses", "setting"),
    [
        ("sql/test_sql_subscriptions.py", "PULL-SQL-012", "enablePropertyFilter"),
        ("send/test_send_states.py", "SEND-PERM-003,SEND-STATE-008", "brokerRole"),
    ],
)
def test_a_changed_setting_is_put_back(file: str, clauses: str, setting: str) -> None:
    with parse_target("embedded:") as target:
        with target.connect_to_broker() as broker:
            before = broker.broker_settings()
        ended = run_child(
            [MESSAGING / file],
            f"--target={target.namesrv}",
            "--may-configure",
            f"--only-clauses={clauses}",
        )
        with target.connect_to_broker() as broker:
            after = broker.broker_settings()
    assert set(ended.outcomes.values()) == {"pass"}
    assert after[setting] == before[setting]


def test_an_operators_value_is_no_broken_default() -> None:
    with parse_target("embedded:", conf={"maxMessageSize": "65536"}) as target:
        ended = run_child(
            [ROOT / "conformance" / "store" / "restart" / "test_defaults.py"],
            f"--target={target.namesrv}",
        )
    assert Counter(ended.outcomes.values()) == {"pass": 7, "unsupported": 1}
    assert "maxMessageSize=4194304 (65536 there)" in "".join(ended.reasons.values())


def test_an_operators_limits_fail_no_sends() -> None:
    conf = {"maxMessageSize": "65536", "defaultTopicQueueNums": "16"}
    sends = ROOT / "conformance" / "messaging" / "send"
    with parse_target("embedded:", conf=conf) as target:
        ended = run_child(
            [sends / "test_send.py", sends / "test_send_topic.py"],
            f"--target={target.namesrv}",
            "-k=bodies_arrive or both_spellings or creates_it and 9",
        )
    assert ended.reasons["SEND-TOPIC-006"] == (
        "it needs the settings defaultTopicQueueNums=8 (16 there)"
    )
    for clause in ("SEND-BODY-001", "SEND-HEADER-001"):
        assert ended.reasons[clause] == (
            "it needs a maxMessageSize of at least 262144 (65536 there)"
        )


PULLS = "pull/test_pull.py::test_a_pull_gets_the_next_messages_in_order"
HALF = "transactions/test_half_messages.py::test_a_half_message_is_not_in_its_queue"
LARGE = "pull/test_pull.py::test_a_response_may_have_a_quarter_of_a_megabyte"


@pytest.mark.parametrize(
    ("test", "setting", "value", "other"),
    [
        (PULLS, "autoCreateSubscriptionGroup", "true", "false"),
        (PULLS, "brokerPermission", "6", "2"),
        (PULLS, "brokerRole", "ASYNC_MASTER", "SYNC_MASTER"),
        (HALF, "rejectTransactionMessage", "false", "true"),
        (LARGE, "maxMessageSize", "4194304", "2048"),
    ],
)
def test_what_an_operator_lets_a_broker_refuse_is_unsupported(
    test: str, setting: str, value: str, other: str
) -> None:
    with parse_target("embedded:", conf={setting: other}) as target:
        ended = run_child(
            [MESSAGING / test], f"--target={target.namesrv}", has_baseline=True
        )
    reason = f"it needs the settings {setting}={value} ({other} there)"
    assert set(ended.outcomes.values()) == {"unsupported"}, ended.outcomes
    assert set(ended.reasons.values()) == {reason}


def test_a_limit_above_the_default_refuses_nothing() -> None:
    name, least = LARGE_MESSAGES
    assert name == "maxMessageSize"
    assert refuses_more("300", least)
    assert not refuses_more(str(int(least) + 1), least)


@pytest.mark.parametrize("trace", ["true", "false"])
def test_an_operators_region_and_tracing_are_expected(trace: str) -> None:
    conf = {"regionId": "Elsewhere", "traceOn": trace}
    test = MESSAGING / "send/test_replies.py::test_a_reply_reaches_its_client"
    with parse_target("embedded:", conf=conf) as target:
        ended = run_child([test], f"--target={target.namesrv}")
    assert set(ended.outcomes.values()) == {"pass"}, ended.outcomes


IGNORED = """
@pytest.mark.clause("GROUP-MEMBER-001")
def test_ends_behind_a_heartbeat(broker):
    broker.heartbeat(client_id="member", producer_groups=["group"])
    fails("GROUP-MEMBER-001")
"""


def test_a_heartbeat_of_an_unknown_group_may_be_ignored(tmp_path: Path) -> None:
    with parse_target("embedded:?autoCreateSubscriptionGroup=false") as target:
        ended = run_made(tmp_path, str(target.namesrv), IGNORED, "--profile=5.3")
    assert ended.outcomes == {"GROUP-MEMBER-001": "unsupported"}


REQUIRED = """
@pytest.mark.clause("PULL-PERM-001")
def test_is_refused_with_another_remark(broker):
    broker.pull(topic="TBW102", offset=0)
    fails("PULL-PERM-001")
"""


def test_a_refusal_that_the_clause_requires_hides_no_failure(tmp_path: Path) -> None:
    with parse_target("embedded:?brokerPermission=2") as target:
        ended = run_made(tmp_path, str(target.namesrv), REQUIRED, AS_4_6)
    assert ended.outcomes == {"PULL-PERM-001": "fail"}


def has_settings(target: Target, needed: Mapping[str, str]) -> bool:
    """Return whether a test that needs these settings would run."""
    try:
        need_settings(target, needed)
    except pytest.skip.Exception:
        return False
    return True


def foreign(*capabilities: Capability) -> Target:
    """Return a target with these *capabilities*."""
    target = Target("made up")
    target.capabilities = frozenset(capabilities)
    return target


def test_a_default_that_is_not_reported_has_no_verdict() -> None:
    target = foreign(Capability.WIRE, Capability.CONFIG)
    with pytest.raises(pytest.skip.Exception, match=r"does not report the settings b$"):
        need_defaults(target, {"a": "1", "b": "2"}, {"a": "1"})


def test_a_wrong_default_beside_one_that_is_not_reported_fails() -> None:
    target = foreign(Capability.WIRE, Capability.CONFIG)
    need_defaults(target, {"a": "1", "b": "2"}, {"a": "0"})


@pytest.mark.parametrize("late", [0, 1, TRIES - 1])
def test_a_lost_response_is_not_taken_as_a_broker_without_settings(late: int) -> None:
    lies = itertools.chain([b""] * late, itertools.repeat(None))

    def response(request: Command) -> bytes:
        lie = next(lies)
        return honest(request, body=b"a=1\n") if lie is None else lie

    target = foreign(Capability.WIRE)
    with LyingServer(response) as server:
        target.broker = server.address
        assert has_settings(target, {"a": "1"})
    assert has_settings(target, {"a": "1"}), "they are known"


def test_a_broker_that_does_not_report_is_requested_a_few_times() -> None:
    received: list[int] = []

    def response(request: Command) -> bytes:
        received.append(request.code)
        return b""

    target = foreign(Capability.WIRE)
    with LyingServer(response) as server:
        target.broker = server.address
        for _ in range(3):
            assert not has_settings(target, {"a": "1"})
    assert len(received) == TRIES


def test_a_broker_that_accepted_no_connection_is_connected_to_again() -> None:
    target = foreign(Capability.WIRE)
    with LyingServer(lambda _: b"") as server:
        target.broker = server.address
    assert not has_settings(target, {"a": "1"})
    port = target.broker.port
    with LyingServer(lambda one: honest(one, body=b"a=1\n"), port=port):
        assert has_settings(target, {"a": "1"})


def test_a_setting_that_cannot_be_put_back_is_not_changed() -> None:
    received: list[int] = []

    def response(request: Command) -> bytes:
        received.append(request.code)
        return honest(request, body=b"brokerRole=ASYNC_MASTER\n")

    with (
        LyingServer(response) as server,
        Client.connect(server.address) as broker,
        pytest.raises(pytest.skip.Exception, match=r"settings slaveReadEnable$"),
        changed(broker, brokerRole="SLAVE", slaveReadEnable="true"),
    ):
        pass
    assert received == [RequestCode.GET_BROKER_CONFIG]


def test_a_setting_of_a_java_process_is_not_required_elsewhere(tmp_path: Path) -> None:
    example = (ROOT / "conformance" / "targets" / "reference.toml").read_text("utf-8")
    own = example.replace('directory = "../.."', f'directory = "{ROOT}"')
    own = own.replace('"clock", "config", "kill", "replication", "restart"', '"config"')
    file = tmp_path / "own.toml"
    file.write_text(own.replace('"config", "store"', '"config"'), encoding="utf-8")
    ended = run_child(
        [MESSAGING / "groups" / "test_lock_machine.py"], f"--target=cmd:{file}"
    )
    assert set(ended.outcomes.values()) == {"unsupported"}, ended.output
    assert "last longer than rocketmq" in "".join(ended.reasons.values())
