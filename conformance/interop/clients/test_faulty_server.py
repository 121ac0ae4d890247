"""
Real clients at ``rmqc serve --fault``, with faults that are changed while it runs.

A send fails with the fault, and the same producer works again without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.harness.client.address import Address
from conformance.harness.client.certificates import over_tls, server_settings
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import ClosedError
from conformance.harness.process.ports import PortBlock, free_port_block
from conformance.harness.process.process import start
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.programs.cell import JAVA, OWN
from conformance.interop.programs.run import adapter_command
from conformance.interop.programs.session import (
    ClientError,
    ClientSession,
    open_session,
)
from rocketmq_conformance.paths import module_command
from spec.security.tls import CLIENT_USES_TLS, ENFORCING
from spec.wire.remoting.request_code import RequestCode

CLIENTS = (OWN, f"{JAVA}4.6.0")
SEND_TIMEOUT_MS = 2000
PREVENTING = (
    *("busy", "error", "no-response", "slow:5s", "wrong-opaque"),
    *("cut-frames", "close", "garbage"),
)
"""Faults with which no send succeeds."""


@contextmanager
def faulty_server(home: Path, *more: str | Path) -> Iterator[PortBlock]:
    """Serve with faults that can be switched on; yield the ports."""
    ports = free_port_block()
    words: list[str | Path] = ["serve", "--fault", "none", "--store", home / "store"]
    words += ["--namesrv-port", str(ports.name_server)]
    words += ["--broker-port", str(ports.broker), *more]
    served = start("rmqc serve", module_command("cli", *words), log=home / "log")
    try:
        served.wait_for_line("ready ", deadline_s=60)
        yield ports
    finally:
        served.terminate()
        ports.release()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Yield a server whose faults can be switched on."""
    home = tmp_path_factory.mktemp("faulty")
    with (
        faulty_server(home) as ports,
        parse_target(f"127.0.0.1:{ports.name_server}") as target,
    ):
        yield target


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest, server: Target) -> Iterator[ClientSession]:
    """Yield a session of a client at the server."""
    with open_session(server, adapter_command(request.param)) as session:
        yield session
        session.close()


@pytest.fixture(autouse=True)
def _no_faults(server: Target) -> Iterator[None]:
    """End the faults of a test."""
    yield
    set_faults(server, "none")


def set_faults(server: Target, text: str) -> None:
    """Replace the active faults, as ``mqadmin updateBrokerConfig`` does."""
    with server.connect_to_broker() as broker:
        body = f"faults={text}\n".encode()
        require_success(broker.invoke(RequestCode.UPDATE_BROKER_CONFIG, {}, body))


@pytest.mark.parametrize("fault", PREVENTING)
def test_a_send_fails_and_works_again(
    server: Target, client: ClientSession, fault: str
) -> None:
    topic = client.topic()
    producer = client.producer(send_timeout_ms=SEND_TIMEOUT_MS)
    assert client.send(producer, topic, "before")["status"] == "SEND_OK"
    set_faults(server, fault)
    with pytest.raises(ClientError):
        client.send(producer, topic, "with the fault")
    set_faults(server, "none")
    assert client.send(producer, topic, "after")["status"] == "SEND_OK"
    client.stop(producer)


def test_a_send_is_stored_without_a_flush(
    server: Target, client: ClientSession
) -> None:
    topic, producer = client.topic(), client.producer()
    set_faults(server, "flush-timeout")
    sent = client.send(producer, topic, "one")
    assert sent["status"] == "FLUSH_DISK_TIMEOUT"
    client.stop(producer)


def test_sends_pass_over_a_broker_that_does_not_exist(
    server: Target, client: ClientSession
) -> None:
    topic, producer = client.topic(), client.producer()
    set_faults(server, "stale-route")
    sent = [client.send(producer, topic, f"{number}") for number in range(12)]
    assert [one["status"] for one in sent] == ["SEND_OK"] * 12
    client.stop(producer)


def test_a_response_that_comes_twice_is_one_result(
    server: Target, client: ClientSession
) -> None:
    topic, producer = client.topic(queue_count=1), client.producer()
    set_faults(server, "repeat")
    sent = [client.send(producer, topic, f"{number}") for number in range(5)]
    assert [one["queue_offset"] for one in sent] == list("01234")
    client.stop(producer)


def test_a_server_with_faults_may_insist_on_tls(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    settings = {**server_settings(ENFORCING), CLIENT_USES_TLS: "true"}
    conf.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    with faulty_server(tmp_path, "-c", conf) as ports:
        broker = Address("127.0.0.1", ports.broker)
        with Client.connect(broker, "4.6.0", over_tls()) as encrypted:
            require_success(encrypted.max_offset(topic="TBW102"))
        with Client.connect(broker) as plain, pytest.raises(ClosedError):
            plain.max_offset(topic="TBW102")
