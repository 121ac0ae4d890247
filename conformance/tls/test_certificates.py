"""Certificates of a server, its requests for those of clients, and the reload."""

from __future__ import annotations

import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.client.access import OPEN
from conformance.harness.client.certificates import (
    CLIENT,
    EXPIRED,
    RENEWED,
    SERVER,
    STRANGER,
    SUCCESSOR,
    Certificate,
    over_tls,
    server_settings,
)
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.target import Capability, Target
from conformance.tls.tls_servers import Served, Servers, serving
from spec.security import tls

pytestmark = pytest.mark.long

RELOAD_S = 15.0
"""Most seconds until a reload; the files are compared every 500 ms."""
WITHOUT_RELOAD_S = 2.5
"""Seconds in which a reload would happen."""


@pytest.mark.clause("TLS-CERT-001")
def test_the_certificate_of_the_settings_is_presented(permissive: Served) -> None:
    found = permissive.presented() == SERVER.der
    expect("TLS-CERT-001", found=found, expected=True, what="presented it")


@pytest.mark.clause("TLS-CERT-003")
def test_a_missing_certificate_leaves_plain_connections(
    servers: Servers, tmp_path: Path
) -> None:
    served = servers.broker_with_settings(
        server_settings(certificate=tmp_path / "none.pem")
    )
    found = served.admits(OPEN), served.admits(over_tls())
    expect("TLS-CERT-003", found=found, expected=(True, False), what="plain, tls")


@pytest.mark.clause("TLS-CERT-004")
def test_a_file_replaces_properties(servers: Servers, tmp_path: Path) -> None:
    file = tmp_path / "tls.properties"
    lines = {
        tls.CERTIFICATE: SUCCESSOR.chain,
        tls.KEY: SUCCESSOR.key,
        tls.MODE: tls.DISABLED,
    }
    file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    served = servers.broker_with_settings(
        {**server_settings(), tls.CONFIG_FILE: str(file)}
    )
    found = served.presented() == SUCCESSOR.der
    expect("TLS-CERT-004", found=found, expected=True, what="presented the file's")


def expect_clients(clause: str, served: Served, *admitted: Certificate | None) -> None:
    """Fail *clause* unless the clients with the *admitted* certificates are served."""
    shown = (None, CLIENT, STRANGER, EXPIRED)
    found = {_name(one): served.admits(over_tls(one)) for one in shown}
    expected = {_name(one): one in admitted for one in shown}
    expect(clause, found=found, expected=expected, what="served, by certificate")


def _name(certificate: Certificate | None) -> str:
    return certificate.name if certificate is not None else "none"


@pytest.mark.clause("TLS-CLIENT-001")
def test_a_certificate_may_be_required(servers: Servers) -> None:
    settings = server_settings(client_auth="require", verifies=True)
    found = servers.broker_with_settings(settings).admits(over_tls())
    expect("TLS-CLIENT-001", found=found, expected=False, what="served without one")


@pytest.mark.clause("TLS-CLIENT-003")
def test_a_required_certificate_may_be_any(servers: Servers, target: Target) -> None:
    need(target, Capability.UNCHECKED_CLIENTS)
    served = servers.broker_with_settings(server_settings(client_auth="require"))
    expect_clients("TLS-CLIENT-003", served, CLIENT, STRANGER, EXPIRED)


@pytest.mark.clause("TLS-CLIENT-002")
def test_a_certificate_of_the_authority_may_be_required(servers: Servers) -> None:
    settings = server_settings(client_auth="require", verifies=True)
    expect_clients("TLS-CLIENT-002", servers.broker_with_settings(settings), CLIENT)


@pytest.mark.clause("TLS-CLIENT-004")
def test_a_certificate_may_be_optional(servers: Servers) -> None:
    settings = server_settings(client_auth="optional", verifies=True)
    expect_clients(
        "TLS-CLIENT-004", servers.broker_with_settings(settings), None, CLIENT
    )


@pytest.mark.clause("TLS-CLIENT-005")
def test_no_certificate_is_requested(permissive: Served) -> None:
    every = (None, CLIENT, STRANGER, EXPIRED)
    expect_clients("TLS-CLIENT-005", permissive, *every)


@pytest.fixture
def changing(
    servers: Servers, pytestconfig: pytest.Config, tmp_path: Path
) -> Iterator[Served]:
    """Yield a target with `server.pem` and `server.key` in the test's directory."""
    assert servers is not None  # for what the target must allow
    chain, key = tmp_path / "server.pem", tmp_path / "server.key"
    shutil.copy(SERVER.chain, chain)
    shutil.copy(SERVER.key, key)
    settings = server_settings(certificate=chain, key=key)
    with serving(pytestconfig, settings, own_name_server=False) as served:
        assert served.presented() == SERVER.der
        yield served


@pytest.mark.clause("TLS-RELOAD-001", "TLS-RELOAD-003")
def test_changed_files_are_read(changing: Served, tmp_path: Path) -> None:
    with changing.client(over_tls()) as open_before:
        shutil.copy(SUCCESSOR.chain, tmp_path / "server.pem")
        shutil.copy(SUCCESSOR.key, tmp_path / "server.key")
        found = presents_soon(changing, SUCCESSOR.der, timeout_s=RELOAD_S)
        expect("TLS-RELOAD-001", found=found, expected=True, what="presented it")
        code = open_before.max_offset(topic="TBW102").code
        expect("TLS-RELOAD-003", found=code, expected=0, what="code")


@pytest.mark.clause("TLS-RELOAD-002")
def test_a_renewed_certificate_waits_for_its_key(
    changing: Served, tmp_path: Path
) -> None:
    renewed = ssl.PEM_cert_to_DER_cert(RENEWED.read_text())
    shutil.copy(RENEWED, tmp_path / "server.pem")
    found = presents_soon(changing, renewed, timeout_s=WITHOUT_RELOAD_S)
    expect("TLS-RELOAD-002", found=found, expected=False, what="presented it alone")
    key = tmp_path / "server.key"
    key.write_text(key.read_text() + "\n")
    found = presents_soon(changing, renewed, timeout_s=RELOAD_S)
    expect("TLS-RELOAD-002", found=found, expected=True, what="presented it then")


def presents_soon(served: Served, certificate: bytes, timeout_s: float) -> bool:
    """Return whether the broker presents *certificate* before *timeout_s*."""
    try:
        wait_until(
            lambda: served.presented() == certificate,
            what="the certificate is presented",
            timeout_s=timeout_s,
        )
    except TooLateError:
        return False
    return True
