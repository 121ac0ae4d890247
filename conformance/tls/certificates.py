"""Certificates of the suite, and connections of clients that use them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.client.access import Access, client_context

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
RENEWED = FOLDER / "renewed.pem"
"""Another certificate of the key of `SERVER`."""
CLIENT = Certificate("client")
STRANGER = Certificate("strange-client")
"""Certificate of a client, signed by another authority."""
EXPIRED = Certificate("expired-client")
AUTHORITY = FOLDER / "authority.pem"
"""Certificate of the authority that signed all others."""


def over_tls(
    certificate: Certificate | None = None, *, authority: str = str(AUTHORITY)
) -> Access:
    """Return the access of a client that trusts *authority*."""
    files = (str(certificate.chain), str(certificate.key)) if certificate else ()
    return Access(tls=client_context(authority, *files))
