"""
Clients with credentials and TLS, at servers that admit no others.

The reference client and Java clients of two releases are driven through their adapters
at the reference and at real brokers of two releases. Commands ``rmqc`` run at each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.client.access import (
    ANY_CERTIFICATE,
    Access,
    secret_credentials,
)
from conformance.harness.client.certificates import (
    AUTHORITY,
    FOLDER,
    over_tls,
    server_settings,
)
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.client_target import REFERENCE
from conformance.harness.targets.started.accounts import (
    Account,
    guarded_settings,
    plain_acl,
    write_plain_acl,
)
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.programs.rmqc_clients import DEADLINE_S, RmqcClients
from conformance.interop.programs.session import (
    ClientError,
    ClientSession,
    open_session,
    texts,
)
from spec.security.signature import Credentials
from spec.security.tls import CLIENT_USES_TLS, ENFORCING

SERVERS = ("embedded:", "jvm:4.6.0", "jvm:5.3.3")
_JAVA = "python -m conformance.client.adapters.java"
CLIENTS = {
    "reference": REFERENCE,
    "Java 4.6.0": f"{_JAVA} 4.6.0",
    "Java 5.3.3": f"{_JAVA} 5.3.3",
}
ADMIN = secret_credentials("interopadmin", "secret-of-the-interop-admin")
WRONG = secret_credentials("interopadmin", "not-the-secret-of-anyone")
STRANGER = FOLDER / "stranger.pem"
"""Authority that signed no certificate of a server."""
SEND_TIMEOUT_MS = 5000
REFUSED = {"embedded:": 1, "jvm:4.6.0": 1, "jvm:5.3.3": 16}
"""Response code of a refusal: SYSTEM_ERROR, or since 5.3 NO_PERMISSION."""


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Yield a cluster with one account that serves TLS alone."""
    settings = {
        **guarded_settings(ADMIN),
        **server_settings(ENFORCING),
        CLIENT_USES_TLS: "true",
    }
    target = parse_target(request.param, conf=settings)
    assert isinstance(target, StartedTarget)
    write_plain_acl(target, plain_acl([Account(credentials=ADMIN, admin=True)]))
    target.access = Access(
        credentials=ADMIN, tls=over_tls(authority=ANY_CERTIFICATE).tls
    )
    with target:
        yield target


@pytest.fixture(scope="module", params=CLIENTS)
def session(request: pytest.FixtureRequest, server: Target) -> Iterator[ClientSession]:
    """Yield a session of each client at the cluster."""
    with open_session(server, CLIENTS[request.param]) as opened:
        yield opened


def access(
    credentials: Credentials | None = ADMIN, authority: Path | None = AUTHORITY
) -> dict[str, Any]:
    """Return the options of a client."""
    given: dict[str, Any] = {"send_timeout_ms": SEND_TIMEOUT_MS, "retries": 0}
    if credentials is not None:
        keys = {n: one for n, one in asdict(credentials).items() if one is not None}
        given["credentials"] = keys
    if authority is not None:
        given["tls"] = {"trust": str(authority)}
    return given


def failure(session: ClientSession, options: Mapping[str, Any]) -> str:
    """Return the failure of a send with *options*."""
    topic = session.topic()
    producer = session.producer(**options)
    try:
        with pytest.raises(ClientError) as error:
            session.send(producer, topic, "never")
    finally:
        session.stop(producer)
    return str(error.value.failure)


def test_messages_are_sent_and_consumed(session: ClientSession) -> None:
    topic = session.topic()
    bodies = [f"guarded {number}" for number in range(4)]
    producer = session.producer(**access())
    sent = [session.send(producer, topic, body)["status"] for body in bodies]
    assert sent == ["SEND_OK"] * len(bodies)
    given = access()
    own = {name: given[name] for name in ("credentials", "tls")}
    got = session.consume(topic, len(bodies), options=own)
    assert texts(got) == bodies
    session.close()


def test_a_wrong_secret_is_refused(session: ClientSession) -> None:
    code = REFUSED[session.target.text]
    assert failure(session, access(WRONG)).endswith(f" {code}")


def test_an_unsigned_request_is_refused(session: ClientSession) -> None:
    code = REFUSED[session.target.text]
    assert failure(session, access(None)).endswith(f" {code}")


@pytest.mark.parametrize("authority", [None, STRANGER], ids=["plain", "stranger"])
def test_a_client_without_its_tls_reaches_no_server(
    session: ClientSession, authority: Path | None
) -> None:
    options = access(authority=authority)
    assert not failure(session, options).endswith(" 1")


@pytest.fixture
def commands(server: Target, tmp_path: Path) -> RmqcClients:
    """Return the commands ``rmqc`` as the account of the cluster."""
    return RmqcClients(server, tmp_path, options_of(ADMIN, tmp_path))


def options_of(credentials: Credentials, folder: Path) -> tuple[str, ...]:
    """Return the options of a command with *credentials*, in a file in *folder*."""
    file = folder / f"{unique_name('tools')}.yml"
    keys = f"accessKey: {credentials.access_key}\nsecretKey: {credentials.secret_key}\n"
    file.write_text(keys, encoding="utf-8")
    return ("--credentials", str(file), "--tls", str(AUTHORITY))


def test_commands_send_and_consume(commands: RmqcClients) -> None:
    topic = create_topic(commands.target, unique_name("guarded"))
    (sent,) = commands.produce(topic, "one")
    assert sent.startswith("SEND_OK")
    (line,) = commands.consume(topic, 1, "-g", unique_name("guarded"))
    assert line.body == "one"


def test_a_command_reports_a_refusal_without_the_secret(
    server: Target, tmp_path: Path
) -> None:
    topic = create_topic(server, unique_name("guarded"))
    commands = RmqcClients(server, tmp_path, options_of(WRONG, tmp_path))
    child = commands.start("produce", "--retries", "0", topic, "one")
    assert child.wait_end(deadline_s=DEADLINE_S) == 1
    assert f"error response with code {REFUSED[server.text]}" in child.output()
    assert WRONG.secret_key not in child.output()


def test_a_command_reports_a_certificate_that_it_refuses(
    server: Target, tmp_path: Path
) -> None:
    commands = RmqcClients(server, tmp_path, ("--tls", str(STRANGER)))
    child = commands.start("produce", "--retries", "0", "Guarded", "one")
    assert child.wait_end(deadline_s=DEADLINE_S) == 1
    assert "certificate verify failed" in child.output()
