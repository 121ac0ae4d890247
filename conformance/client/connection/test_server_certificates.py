"""TLS of a client: encrypted connections, and servers that it refuses."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

from conformance.client.application import Application
from conformance.client.calls import CallOutcome
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ScriptedServer
from conformance.harness.client.certificates import (
    AUTHORITY,
    CLIENT,
    ELSEWHERE,
    EXPIRED,
    SELF_SIGNED,
    SERVER,
    STRANGER,
    Certificate,
    server_context,
)
from conformance.harness.pytest_plugin.expectations import expect

TRUSTING: dict[str, Any] = {"trust": str(AUTHORITY)}
ANY: dict[str, Any] = {}
SERVERS = pytest.mark.parametrize("server", ["name server", "broker"])
SEND_TIMEOUT_MS = 3000
"""Long enough for a handshake on a busy machine."""


@pytest.fixture
def servers(
    application: Application, cluster: ScriptedCluster, broker: ScriptedBroker
) -> dict[str, ScriptedServer]:
    """Return name server and broker by name, with a certificate of the authority."""
    application.need("tls")
    both: dict[str, ScriptedServer] = {
        "name server": cluster.name_server,
        "broker": broker,
    }
    for one in both.values():
        one.tls = server_context(SERVER)
    return both


def send(application: Application, topic: str, tls: dict[str, Any]) -> CallOutcome:
    """Send a message with the option *tls*, and return the outcome."""
    producer = application.producer(tls=tls, retries=0, send_timeout_ms=SEND_TIMEOUT_MS)
    return producer.send(topic)


def expect_refused(
    clause: str, application: Application, topic: str, server: ScriptedServer
) -> None:
    """Fail *clause* unless a client with an authority sends nothing to *server*."""
    outcome = send(application, topic, TRUSTING)
    expect(
        clause,
        found=(outcome.is_error, len(server.received)),
        expected=(True, 0),
        what=f"failed, requests at the {server.name}",
    )


def expect_admitted(
    clause: str,
    application: Application,
    topic: str,
    tls: dict[str, Any],
) -> None:
    """Fail *clause* unless a client with the option *tls* sends its message."""
    outcome = send(application, topic, tls)
    expect(clause, found=outcome.word, expected="SEND_OK", what="result")


@pytest.mark.clause("CLIENT-TLS-001")
def test_every_connection_is_encrypted(
    application: Application, topic: str, servers: dict[str, ScriptedServer]
) -> None:
    expect_admitted("CLIENT-TLS-001", application, topic, TRUSTING)
    for one in servers.values():
        found = one.failed_handshakes, bool(one.received)
        expect("CLIENT-TLS-001", found=found, expected=([], True), what=one.name)


@pytest.mark.clause("CLIENT-TLS-001")
@SERVERS
def test_a_server_without_tls_gets_no_frame(
    application: Application,
    topic: str,
    servers: dict[str, ScriptedServer],
    server: str,
) -> None:
    servers[server].tls = None
    expect_refused("CLIENT-TLS-001", application, topic, servers[server])


@pytest.mark.clause("CLIENT-TLS-002")
@SERVERS
@pytest.mark.parametrize("certificate", [STRANGER, SELF_SIGNED], ids=attrgetter("name"))
def test_a_certificate_of_an_unknown_authority_is_refused(
    application: Application,
    topic: str,
    servers: dict[str, ScriptedServer],
    server: str,
    certificate: Certificate,
) -> None:
    servers[server].tls = server_context(certificate)
    expect_refused("CLIENT-TLS-002", application, topic, servers[server])


@pytest.mark.clause("CLIENT-TLS-003")
@SERVERS
def test_an_expired_certificate_is_refused(
    application: Application,
    topic: str,
    servers: dict[str, ScriptedServer],
    server: str,
) -> None:
    servers[server].tls = server_context(EXPIRED)
    expect_refused("CLIENT-TLS-003", application, topic, servers[server])


@pytest.mark.clause("CLIENT-TLS-004")
def test_a_certificate_of_another_host_is_admitted(
    application: Application, topic: str, servers: dict[str, ScriptedServer]
) -> None:
    for one in servers.values():
        one.tls = server_context(ELSEWHERE)
    expect_admitted("CLIENT-TLS-004", application, topic, TRUSTING)


@pytest.mark.clause("CLIENT-TLS-005")
@pytest.mark.parametrize(
    "certificate", [STRANGER, SELF_SIGNED, EXPIRED], ids=attrgetter("name")
)
def test_without_an_authority_any_certificate_is_admitted(
    application: Application,
    topic: str,
    servers: dict[str, ScriptedServer],
    certificate: Certificate,
) -> None:
    for one in servers.values():
        one.tls = server_context(certificate)
    expect_admitted("CLIENT-TLS-005", application, topic, ANY)


@pytest.mark.clause("CLIENT-TLS-006")
def test_in_test_mode_any_certificate_is_admitted(
    application: Application, topic: str, servers: dict[str, ScriptedServer]
) -> None:
    for one in servers.values():
        one.tls = server_context(STRANGER)
    expect_admitted(
        "CLIENT-TLS-006", application, topic, {**TRUSTING, "test_mode": True}
    )


@pytest.mark.clause("CLIENT-TLS-007")
def test_a_client_presents_its_certificate(
    application: Application, topic: str, servers: dict[str, ScriptedServer]
) -> None:
    for one in servers.values():
        one.tls = server_context(SERVER, requires_client=True)
    own = {"certificate": str(CLIENT.chain), "key": str(CLIENT.key)}
    expect_admitted("CLIENT-TLS-007", application, topic, {**TRUSTING, **own})
