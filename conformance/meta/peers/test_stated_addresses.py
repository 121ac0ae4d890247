"""A running cluster whose text states the tested address and that of administration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.tap import Tap
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.started import command_target
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target, TargetError, parse_target
from conformance.meta.peers.lying_cluster import cluster_info
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

MESSAGING = Path(__file__).parents[2] / "messaging"
FILES_ABOUT_ADDRESSES = (
    *("admin/test_admin", "admin/test_admin_statistics", "send/test_send"),
    *("groups/test_members", "groups/test_client_ids"),
)
ABOUT_ADDRESSES = (
    "ADMIN-CONFIG-001",
    "ADMIN-STATS-009",
    "GROUP-CONNECTION-001",
    "GROUP-CONNECTION-003",
    "GROUP-MEMBER-011",
    "SEND-HOST-001",
    "SEND-HOST-002",
    "WIRE-CONN-023",
    "WIRE-MESSAGEID-001",
)
MET_BEHIND_FORWARD = ("ADMIN-STATS-009", "SEND-HOST-002", "WIRE-MESSAGEID-001")
"""The first one has a second test, without an address."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Target]:
    """Yield a cluster that runs, an embedded one."""
    with parse_target("embedded:") as started:
        yield started


def test_the_stated_broker_is_tested_and_another_creates_topics(
    cluster: Target,
) -> None:
    assert cluster.broker is not None
    with Tap(cluster.broker) as proxy:
        text = f"{cluster.namesrv}?broker={proxy.address}&admin={cluster.broker}"
        with parse_target(text) as target:
            assert (target.broker, target.admin) == (proxy.address, cluster.broker)
            assert target.broker_name == cluster.broker_name
            topic = create_topic(target, unique_name("topic"))
            with target.connect_to_broker() as client:
                assert client.address == proxy.address
                assert client.max_offset(topic=topic).code == 0


def test_a_forward_fails_no_clause_about_addresses(cluster: Target) -> None:
    assert cluster.broker is not None
    files = [MESSAGING / f"{name}.py" for name in FILES_ABOUT_ADDRESSES]
    clauses = ",".join(ABOUT_ADDRESSES)
    with Tap(cluster.broker) as forward:
        text = f"{cluster.namesrv}?broker={forward.address}"
        files.append(MESSAGING.parent / "wire/test_command.py")
        ended = run_child(files, f"--target={text}", f"--only-clauses={clauses}")
    found = {clause: ended.outcomes[clause] for clause in ABOUT_ADDRESSES}
    met = dict.fromkeys(MET_BEHIND_FORWARD, "pass")
    assert found == dict.fromkeys(ABOUT_ADDRESSES, "unsupported") | met


@pytest.mark.parametrize("is_registered", [True, False])
def test_the_names_are_those_of_the_stated_broker(is_registered: bool) -> None:
    elsewhere = Address("127.0.0.1", 1)
    info = b"{}"

    def answered(request: Command) -> bytes:
        is_settings = request.code == RequestCode.GET_BROKER_CONFIG
        return honest(request, body=b"brokerName=second\n" if is_settings else info)

    with LyingServer(answered) as server:
        own = server.address if is_registered else elsewhere
        info = cluster_info(elsewhere, first=elsewhere, second=own)
        text = f"{server.address}?broker={server.address}"
        with parse_target(text, profile="4.9") as target:
            assert (target.broker_name, target.cluster) == ("second", "c")
            assert target.registered == (None if is_registered else elsewhere)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("brokers=127.0.0.1:1", "brokers is not one of broker, admin"),
        ("broker=here", "broker: .*here"),
    ],
)
def test_other_statements_are_an_error(query: str, reason: str) -> None:
    with pytest.raises(TargetError, match=reason):
        parse_target(f"127.0.0.1:1?{query}")


def test_an_address_without_a_listener_is_named(cluster: Target) -> None:
    target = parse_target(f"{cluster.namesrv}?admin=127.0.0.1:1")
    message = r"no listener on 127\.0\.0\.1:1, which \?admin= states"
    with pytest.raises(TargetError, match=message):
        target.start()


def test_the_address_of_a_broker_is_no_target(cluster: Target) -> None:
    assert cluster.broker is not None
    with pytest.raises(TargetError, match=r"is the address of broker .*name server"):
        parse_target(str(cluster.broker)).start()


def test_a_broker_that_reports_no_settings_is_no_target_either() -> None:
    def answered(request: Command) -> bytes:
        is_own = request.code == RequestCode.GET_CONSUMER_LIST_BY_GROUP
        code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        return honest(request, code=0 if is_own else code)

    with (
        LyingServer(answered) as server,
        pytest.raises(TargetError, match=r"is the address of a broker; .*name server"),
    ):
        parse_target(str(server.address), profile="4.9").start()


def test_the_registered_address_of_a_broker_needs_a_listener() -> None:
    info = cluster_info(Address("127.0.0.1", 1))
    with (
        LyingServer(lambda request: honest(request, body=info)) as server,
        pytest.raises(TargetError, match=r"127\.0\.0\.1:1, .*registered.*\?broker="),
    ):
        parse_target(str(server.address), profile="4.9").start()


LISTED = """
release = "4.6.0"
[environment]
PYTHONPATH = "SOURCES"
[broker]
command = ["{python}", "-c", '''
import signal, sys
from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.meta.peers.lying_cluster import cluster_info
def answer(request):
    return honest(request, body=cluster_info(Address("HOST", 1)))
for port in sys.argv[1:]:
    LyingServer(answer, port=int(port)).__enter__()
signal.pause()
''', "{namesrv_port}", "{broker_port}"]
"""
"""A name server and a broker whose address has no listener."""


@pytest.mark.parametrize("host", ["127.0.0.9", "nowhere.invalid"])
def test_so_does_that_of_a_broker_that_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(command_target, "REGISTERED_S", 0.1)
    file = tmp_path / "target.toml"
    text = LISTED.replace("HOST", host).replace("SOURCES", str(SOURCES))
    file.write_text(text, encoding="utf-8")
    target = parse_target(f"cmd:{file}")
    message = rf"no listener on {host}:1, .*registered.*should be 127\.0\.0\.1:"
    with pytest.raises(TargetError, match=message), target:
        pass
    target = parse_target(f"cmd:{file}?broker=127.0.0.9:1")
    message = r"no listener on 127\.0\.0\.9:1, which \?broker= states"
    with pytest.raises(TargetError, match=message), target:
        pass
    with (
        LyingServer(honest) as reached,
        parse_target(f"cmd:{file}?broker={reached.address}") as target,
    ):
        assert target.broker == reached.address
        assert target.conf == {}


@pytest.mark.parametrize(
    ("own", "is_found"),
    [
        (
            {
                RequestCode.GET_CONSUMER_LIST_BY_GROUP,
                RequestCode.GET_ROUTEINFO_BY_TOPIC,
            },
            True,
        ),
        ({RequestCode.GET_BROKER_CLUSTER_INFO}, False),
    ],
)
def test_a_proxy_is_name_server_and_broker(
    own: set[RequestCode], is_found: bool
) -> None:
    groups = 0

    def answered(request: Command) -> bytes:
        nonlocal groups
        groups += request.code == RequestCode.GET_CONSUMER_LIST_BY_GROUP
        code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        return honest(request, code=0 if request.code in own else code)

    with LyingServer(answered) as server:
        target = parse_target(str(server.address), profile="5.3.3")
        target.start()
        assert target.broker == (server.address if is_found else None)
    assert groups == 1
