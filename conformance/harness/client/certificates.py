"""
Certificates of the suites, and connections of clients that use them.

``certificates/make.sh`` wrote them; they protect nothing. They name this machine.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.client.access import Access, client_context
from spec.security import tls

FOLDER = Path(__file__).parent / "certificates"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, as files in PEM."""

    name: str

    @property
    def chain(self) -> Path:
        """File of the certificate."""
        return FOLDER / f"{self.name}.pem"

    @property
    def key(self) -> Path:
        """File of the private key."""
        return FOLDER / f"{self.name}.key"

    @property
    def der(self) -> bytes:
        """The certificate as a peer presents it."""
        return ssl.PEM_cert_to_DER_cert(self.chain.read_text(encoding="ascii"))


SERVER = Certificate("server")
SUCCESSOR = Certificate("successor")
"""Certificate with a key of its own, which replaces that of the server."""
ELSEWHERE = Certificate("elsewhere")
"""Certificate of a server that names another host."""
RENEWED = FOLDER / "renewed.pem"
"""Another certificate of the key of `SERVER`."""
CLIENT = Certificate("client")
STRANGER = Certificate("strange-client")
"""Certificate of a client, signed by another authority."""
EXPIRED = Certificate("expired-client")
SELF_SIGNED = Certificate("self-signed")
AUTHORITY = FOLDER / "authority.pem"
"""Certificate of the authority that signed the others."""


def server_settings(
    mode: str = tls.PERMISSIVE,
    *,
    client_auth: str = "",
    verifies: bool = False,
    certificate: Path = SERVER.chain,
    key: Path = SERVER.key,
) -> dict[str, str]:
    """Return the properties of a server with the certificate of the suite."""
    made = {
        tls.MODE: mode,
        tls.TEST_MODE: "false",
        tls.CERTIFICATE: str(certificate),
        tls.KEY: str(key),
    }
    if client_auth:
        made[tls.CLIENT_AUTH] = client_auth
    if verifies:
        made |= {tls.VERIFIES_CLIENT: "true", tls.TRUSTED: str(AUTHORITY)}
    return made


def server_context(
    certificate: Certificate, *, requires_client: bool = False
) -> ssl.SSLContext:
    """Return the TLS of a server that presents *certificate*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    if requires_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(AUTHORITY)
    return context


def over_tls(
    certificate: Certificate | None = None, *, authority: str = str(AUTHORITY)
) -> Access:
    """Return the access of a client that trusts *authority*."""
    files = (str(certificate.chain), str(certificate.key)) if certificate else ()
    return Access(tls=client_context(authority, *files))
