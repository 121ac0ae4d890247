"""
Access of a client to a peer: credentials to sign with, TLS, and its own address.

The credentials are in a file with the layout of Java's tools.yml. So the secret key is
on no command line, in no list of processes, and in no report. Requests are signed as
the client of a release signs them.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.harness.client.secrets import SECRETS
from spec.clause import release_key
from spec.security.signature import (
    ACCESS_KEY,
    LAST_UNSIGNED_VERSION,
    Credentials,
    signed_fields,
)
from spec.wire.consumer.query import UNIQUE_KEY_FIELD
from spec.wire.remoting.command import Command

CREDENTIALS, TLS, TLS_CERT, TLS_KEY = "credentials", "tls", "tlsCert", "tlsKey"
SETTINGS = (CREDENTIALS, TLS, TLS_CERT, TLS_KEY)
"""Settings of a target that are about its clients, not about the target."""
ANY_CERTIFICATE = "any"
"""Value of ``tls`` for a connection to a server with any certificate."""

_KEY_LINE = re.compile(
    r"""^(accessKey|secretKey|securityToken)\s*:\s*['"]?(.*?)['"]?\s*$"""
)
FIRST_WITHOUT_FLAG, FIRST_BY_VERSION = (4, 7), (5,)
"""First releases whose signatures leave the flag of queries by unique key out."""


class AccessError(ValueError):
    """A setting or a file about access has no meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Credentials and TLS settings of a client."""

    credentials: Credentials | None = None
    tls: ssl.SSLContext | None = None
    source: str = ""
    """Address to connect from; the system's choice if empty."""


OPEN = Access()
"""Access of a peer that neither signs nor encrypts."""


def access_of(settings: Mapping[str, str]) -> Access:
    """Return the access that the settings of a target state."""
    file = settings.get(CREDENTIALS)
    credentials = read_credentials(Path(file)) if file else None
    if TLS not in settings:
        if settings.keys() & {TLS_CERT, TLS_KEY}:
            raise AccessError(f"{TLS_CERT} and {TLS_KEY} need {TLS}")
        return Access(credentials=credentials)
    cert, key = settings.get(TLS_CERT), settings.get(TLS_KEY)
    return Access(credentials=credentials, tls=client_context(settings[TLS], cert, key))


def read_credentials(path: Path) -> Credentials:
    """Return the credentials in a file such as tools.yml."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AccessError(f"{CREDENTIALS}: {path}: {error}") from None
    found = {match[1]: match[2] for line in lines if (match := _KEY_LINE.match(line))}
    if not (found.get("accessKey") and found.get("secretKey")):
        raise AccessError(f"{CREDENTIALS}: {path} lacks accessKey or secretKey")
    return secret_credentials(
        found["accessKey"], found["secretKey"], found.get("securityToken")
    )


def secret_credentials(
    access_key: str, secret_key: str, security_token: str | None = None
) -> Credentials:
    """Return credentials whose secrets no transcript of this process shows."""
    if security_token is not None:
        SECRETS.add(security_token)
    return Credentials(
        access_key=access_key,
        secret_key=SECRETS.add(secret_key),
        security_token=security_token,
    )


def client_context(
    authority: str, cert: str | None = None, key: str | None = None
) -> ssl.SSLContext:
    """Return the TLS of a client that trusts *authority*, a file or ``any``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # as Java clients: brokers are known by address
    try:
        if authority == ANY_CERTIFICATE:
            context.verify_mode = ssl.CERT_NONE
        else:
            context.load_verify_locations(authority)
        if cert is not None:
            context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise AccessError(f"{TLS}: {authority}: {error}") from None
    return context


def signed(command: Command, credentials: Credentials, release: str) -> Command:
    """Return *command* with the signature that a broker of *release* admits.

    A signed request and a response stay as they are.
    """
    if command.is_response or ACCESS_KEY in command.fields:
        return command
    # Whether the flag of queries by unique key is signed: SEC-SIGN-008 to -010.
    is_late = bool(release) and release_key(release) >= FIRST_WITHOUT_FLAG
    by_version = is_late and release_key(release) >= FIRST_BY_VERSION
    leaves_out = command.version <= LAST_UNSIGNED_VERSION if by_version else is_late
    left_out = {UNIQUE_KEY_FIELD} if leaves_out else set()
    content = {k: v for k, v in command.fields.items() if k not in left_out}
    fields = signed_fields(content, command.body, credentials)
    return replace(command, fields={**command.fields, **fields})
