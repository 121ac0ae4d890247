"""Modes of a server: which connections it serves, and the frames over them."""

from __future__ import annotations

import pytest

from conformance.harness.client.access import OPEN
from conformance.harness.client.certificates import over_tls, server_settings
from conformance.harness.client.client import require_success
from conformance.harness.client.requests.invoker import request
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.tls.tls_servers import Served, Servers
from spec.security import tls
from spec.wire.remoting.command import encode_command
from spec.wire.remoting.request_code import RequestCode

pytestmark = pytest.mark.long

SERVERS = pytest.mark.parametrize("server", ["name server", "broker"])
LARGE = 300_000
"""Bytes of a body that needs many TLS records of at most 16 KiB."""


def expect_admitted(clause: str, served: Served, server: str, modes: str) -> None:
    """Fail *clause* unless connections of exactly these *modes* are served."""
    found = {
        "plain": served.admits(OPEN, server),
        "tls": served.admits(over_tls(), server),
    }
    expected = {name: name in modes for name in found}
    expect(clause, found=found, expected=expected, what=f"served by the {server}")


@SERVERS
@pytest.mark.clause("TLS-MODE-001")
def test_a_server_may_not_have_tls(servers: Servers, server: str) -> None:
    served = servers.with_settings(server_settings(tls.DISABLED))
    expect_admitted("TLS-MODE-001", served, server, "plain")


@SERVERS
@pytest.mark.clause("TLS-MODE-002")
def test_a_port_may_serve_both(permissive: Served, server: str) -> None:
    expect_admitted("TLS-MODE-002", permissive, server, "plain tls")


@SERVERS
@pytest.mark.clause("TLS-MODE-003")
def test_a_server_may_insist_on_tls(servers: Servers, server: str) -> None:
    settings = {**server_settings(tls.ENFORCING), tls.CLIENT_USES_TLS: "true"}
    served = servers.with_settings(settings)
    expect_admitted("TLS-MODE-003", served, server, "tls")


@pytest.mark.clause("TLS-MODE-004")
@pytest.mark.parametrize("mode", ["Enforcing", "unknown"])
def test_another_mode_is_permissive(servers: Servers, mode: str) -> None:
    served = servers.broker_with_settings(server_settings(mode))
    expect_admitted("TLS-MODE-004", served, "broker", "plain tls")


@pytest.mark.clause("TLS-MODE-005")
def test_a_broker_registers_over_tls(servers: Servers) -> None:
    settings = {**server_settings(tls.ENFORCING), tls.CLIENT_USES_TLS: "true"}
    target = servers.with_settings(settings).target
    with target.connect_to_namesrv() as namesrv:
        response = require_success(namesrv.cluster_info())
        found = target.broker_name.encode() in response.body
        expect("TLS-MODE-005", found=found, expected=True, what="registered")


@pytest.mark.clause("TLS-FRAME-001")
def test_a_large_message_crosses_both_ways(encrypted: Served) -> None:
    body = bytes(range(256)) * (LARGE // 256)
    topic = unique_name("tls")
    with encrypted.client(encrypted.encrypted) as client:
        require_success(client.create_topic(topic=topic))
        require_success(client.send_message(topic=topic, queue_id=0, body=body))
        client.wait_for_max_offset(topic=topic, offset=1)
        group = unique_name("tls")
        require_success(client.update_group(group=group))
        pulled = client.pull(topic=topic, offset=0, group=group)
        found = len(pulled.body), body in pulled.body
    expected = len(pulled.body), True
    expect("TLS-FRAME-001", found=found, expected=expected, what="size, body is in it")


@pytest.mark.clause("TLS-FRAME-001")
@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_frames_may_be_cut_anywhere(encrypted: Served, piece: int) -> None:
    fields = {"topic": "TBW102", "queueId": "0"}
    with encrypted.client(encrypted.encrypted) as client:
        sent = [
            client.peer.completed(request(RequestCode.GET_MAX_OFFSET, dict(fields)))
            for _ in range(3)
        ]
        data = b"".join(map(encode_command, sent))
        for begin in range(0, len(data), piece):
            client.peer.send_bytes(data[begin : begin + piece])
        found = {client.peer.receive().opaque for _ in sent}
        expected = {one.opaque for one in sent}
        expect("TLS-FRAME-001", found=found, expected=expected, what="opaques")
