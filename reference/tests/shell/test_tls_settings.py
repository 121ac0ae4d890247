"""Settings of TLS that lack a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.shell.tls import ServerTls, Tls


@pytest.mark.parametrize(
    "settings",
    [
        {"tls.enable": "true", "tls.client.authServer": "true"},
        {"tls.enable": "true", "tls.client.authServer": "true"}
        | {"tls.client.trustCertPath": ""},
    ],
)
def test_without_a_file_the_certificates_of_the_system_are_trusted(
    settings: dict[str, str],
) -> None:
    assert Tls.of(settings).client is not None


def test_a_changed_trust_file_needs_no_certificate(tmp_path: Path) -> None:
    trusted = tmp_path / "ca.pem"
    trusted.write_text("old")
    tls = ServerTls(
        {"tls.server.mode": "enforcing", "tls.server.trustCertPath": str(trusted)}
    )
    trusted.write_text("new")
    tls.reload()
    assert tls.context is None
