"""Settings of ``jvm:`` that decide how Apache's programs are started."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.apache_conf import read_properties
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.target import Capability, TargetError, parse_target
from conformance.meta.made_suite import run_made
from spec.wire.remoting.request_code import RequestCode

CONTROLLER_MODE = {"enableControllerMode": "true"}
ROCKSDB = {"storeType": "defaultRocksDB"}
NEWEST = "5.4.0"
CHOOSES_A_ROLE = """
@pytest.mark.settings(enableControllerMode="false")
@pytest.mark.clause("WIRE-FRAME-001")
def test_is_a_slave(broker):
    pass
"""


def settings_written(
    directory: Path, conf: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings of name server and broker with *conf*, neither started."""
    with closing(ApacheCluster(NEWEST, directory=directory, conf=conf)):
        name_server, broker = (
            read_properties(directory / "conf" / f"{program}.conf")
            for program in ("namesrv", "broker")
        )
    return name_server, broker


def test_controller_mode_puts_a_controller_into_the_name_server(tmp_path: Path) -> None:
    name_server, broker = settings_written(tmp_path, CONTROLLER_MODE)
    assert name_server["enableControllerInNamesrv"] == "true"
    assert name_server["controllerDLegerPeers"] == f"n0-{broker['controllerAddr']}"
    assert not broker["controllerAddr"].endswith(f":{name_server['listenPort']}")


@pytest.mark.parametrize("more", [{}, {"controllerAddr": "127.0.0.1:1"}])
def test_no_controller_is_started_where_none_is_needed(
    more: dict[str, str], tmp_path: Path
) -> None:
    conf = {**CONTROLLER_MODE, **more} if more else {}
    name_server, broker = settings_written(tmp_path, conf)
    assert "enableControllerInNamesrv" not in name_server
    assert broker.get("controllerAddr") == more.get("controllerAddr")


@pytest.mark.parametrize(
    ("conf", "lacking"),
    [(CONTROLLER_MODE, Capability.REPLICATION), (ROCKSDB, Capability.STORE)],
)
def test_files_and_protocol_for_slaves_are_not_always_those_of_the_clauses(
    conf: dict[str, str], lacking: Capability
) -> None:
    plain = parse_target(f"jvm:{NEWEST}")
    other = parse_target(f"jvm:{NEWEST}", conf=conf)
    assert plain.capabilities - other.capabilities == {lacking}


def test_a_marker_about_the_role_ends_tests_under_a_controller(tmp_path: Path) -> None:
    target = "embedded:?enableControllerMode=true"
    ended = run_made(tmp_path, target, CHOOSES_A_ROLE)
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported"}
    assert "enableControllerMode=false (true there)" in ended.reasons["WIRE-FRAME-001"]


def test_a_release_without_controllers_is_refused() -> None:
    with pytest.raises(TargetError, match=r"controllers exist from 5\.0 on"):
        parse_target("jvm:4.9.7", conf=CONTROLLER_MODE)


@pytest.mark.slow
def test_a_broker_under_a_controller_is_still_its_master_after_a_kill() -> None:
    with parse_target(f"jvm:{NEWEST}", conf=CONTROLLER_MODE) as target:
        topic = create_topic(target, unique_name("topic"))
        with target.connect_to_broker() as client:
            require_success(client.send_message(topic=topic, body=b"before"))
            assert epochs(client) == [1]
        target.kill()
        target.start()
        with target.connect_to_broker() as client:
            client.wait_for_max_offset(topic=topic, offset=1)
            require_success(client.send_message(topic=topic, body=b"after"))
            assert epochs(client) == [1], "the controller forgot its election"


def epochs(client: Client) -> list[int]:
    """Return the epochs of a broker's terms as master; only a controller starts one."""
    body = body_of(require_success(client.invoke(RequestCode.GET_BROKER_EPOCH_CACHE)))
    assert isinstance(body, dict)
    return [one["epoch"] for one in body["epochList"]]


@pytest.mark.slow
def test_a_broker_keeps_its_consume_queues_in_rocksdb() -> None:
    with parse_target(f"jvm:{NEWEST}", conf=ROCKSDB) as target:
        topic = create_topic(target, unique_name("topic"))
        assert target.store_path is not None
        with target.connect_to_broker() as client:
            assert client.broker_settings().items() >= ROCKSDB.items()
            require_success(client.send_message(topic=topic, body=b"before"))
            client.wait_for_max_offset(topic=topic, offset=1)
        target.restart()
        assert not (target.store_path / "consumequeue" / topic).exists()
        with target.connect_to_broker() as client:
            client.wait_for_max_offset(topic=topic, offset=1)
            found = require_success(client.pull(topic=topic, offset=0, group="g"))
        assert b"before" in found.body
