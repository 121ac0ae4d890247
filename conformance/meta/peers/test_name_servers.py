"""A real name server is reused only while it is empty."""

from __future__ import annotations

from unittest import mock

import pytest

from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.java import name_servers
from conformance.harness.java.cluster_info import (
    GET_BROKER_CLUSTER_INFO,
    is_empty_name_server,
)
from conformance.harness.java.name_servers import acquire, release_to_pool
from conformance.harness.process.process import ProcessError
from conformance.harness.targets.started.jvm import JvmTarget
from conformance.harness.targets.target import TargetError
from spec.wire.remoting.command import Command

NO_BROKER = b'{"brokerAddrTable":{},"clusterAddrTable":{}}'
A_BROKER = (
    b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"a",'
    b'"cluster":"c"}},"clusterAddrTable":{"c":["a"]}}'
)
NO_TOPIC = b'{"topicList":[]}'
A_TOPIC = b'{"brokerAddr":"","topicList":["left"]}'


class Idle:
    """Name server that has served a target."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.is_as_new = True
        self.is_closed = False

    def close(self) -> None:
        """Note that it has ended."""
        self.is_closed = True


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with no name server, and with simple ones."""
    monkeypatch.setattr(name_servers, "NameServer", Idle)
    monkeypatch.setattr(name_servers, "_idle", {})


@pytest.mark.parametrize(
    ("brokers", "topics", "expected"),
    [
        (NO_BROKER, NO_TOPIC, True),
        (A_BROKER, NO_TOPIC, False),
        (NO_BROKER, A_TOPIC, False),
        (b"", NO_TOPIC, False),
        (NO_BROKER, b"", False),
    ],
)
def test_one_that_has_forgotten_everything_is_told_from_one_that_has_not(
    brokers: bytes, topics: bytes, expected: bool
) -> None:
    def response(request: Command) -> bytes:
        is_first = request.code == GET_BROKER_CLUSTER_INFO
        return honest(request, body=brokers if is_first else topics)

    with LyingServer(response) as server:
        assert is_empty_name_server(server.address) is expected


def test_one_that_does_not_answer_is_not_said_to_know_nothing() -> None:
    with LyingServer(lambda _: b"") as server:
        address = server.address
        assert not is_empty_name_server(address)
    assert not is_empty_name_server(Address(*address))


@pytest.mark.usefixtures("no_wait")
def test_what_is_given_back_is_lent_again() -> None:
    first, second = acquire("4.6.0"), acquire("4.6.0")
    assert first is not second
    release_to_pool(first)
    assert acquire("4.6.0") is first


@pytest.mark.usefixtures("no_wait")
def test_a_target_whose_broker_does_not_end_returns_its_name_server() -> None:
    target = JvmTarget("jvm:4.6.0", "4.6.0")
    target._borrowed = borrowed = acquire("4.6.0")
    target._cluster = mock.Mock(close=mock.Mock(side_effect=ProcessError("no end")))
    with pytest.raises(TargetError, match="no end"):
        target.close()
    assert acquire("4.6.0") is borrowed
    target.close()  # it has none to return twice


@pytest.mark.usefixtures("no_wait")
def test_one_of_another_release_is_not_lent() -> None:
    first = acquire("4.6.0")
    release_to_pool(first)
    assert acquire("5.3.3") is not first


@pytest.mark.usefixtures("no_wait")
def test_one_that_still_knows_something_ends() -> None:
    first = acquire("4.6.0")
    release_to_pool(first)
    first.is_as_new = False  # type: ignore[misc] # a simple one's is set
    assert acquire("4.6.0") is not first
    assert first.is_closed  # type: ignore[attr-defined]
