"""
TLS of a server (Java: TlsSystemConfig, TlsHelper, FileWatchService).

Java reads the settings ``tls.*`` from properties of its process; here they are lines of
the file that ``-c`` names. Without a certificate a server has no TLS: Java's test mode,
a certificate made at the start, is not offered. Python's ssl verifies each certificate
that it requests, so a required client certificate needs ``tls.server.authClient``.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from reference.core.settings import read_properties
from reference.shell.settings_files import read_settings_text
from spec.security.tls import (
    CERTIFICATE,
    CLIENT_AUTH,
    CLIENT_USES_TLS,
    CONFIG_FILE,
    ENFORCING,
    HANDSHAKE,
    KEY,
    MODE,
    TRUSTED,
    VERIFIES_CLIENT,
)

PREFIX = "tls."
KEY_PASSWORD = "tls.server.keyPassword"  # noqa: S105 - a setting's name
VERIFIES_SERVER, TRUSTED_SERVERS = "tls.client.authServer", "tls.client.trustCertPath"
OWN_CERTIFICATE, OWN_KEY = "tls.client.certPath", "tls.client.keyPath"
NONE, OPTIONAL, REQUIRE = "none", "optional", "require"


class TlsError(Exception):
    """Settings of TLS that cannot be met."""


class TlsMode(StrEnum):
    """Connections that a server serves (Java: TlsMode)."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = ENFORCING


def take_tls(settings: dict[str, str]) -> dict[str, str]:
    """Remove the settings about TLS from *settings*, and return them.

    Lines of the file that ``tls.config.file`` names replace them.
    """
    own = {name: settings.pop(name) for name in list(settings) if _is_tls(name)}
    file = own.get(CONFIG_FILE)
    if file is None or not Path(file).is_file():
        return own
    lines = read_properties(read_settings_text(Path(file)))
    fixed = {MODE, CLIENT_USES_TLS}  # [TLS-CERT-004]
    return own | {
        name: text
        for name, text in lines.items()
        if _is_tls(name) and name not in fixed
    }


def _is_tls(name: str) -> bool:
    return name.startswith(PREFIX)


def _is_true(settings: Mapping[str, str], name: str) -> bool:
    return settings.get(name, "").lower() == "true"


class ServerTls:
    """The mode of a server, and its certificate, which is read again if it changes."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Read the certificate; without a readable one there is no TLS."""
        self._settings = settings
        self.mode = _mode(settings.get(MODE, ""))
        if self._client_auth == REQUIRE and not self._verifies:
            raise TlsError(f"{CLIENT_AUTH}={REQUIRE} needs {VERIFIES_CLIENT}=true")
        self.context: ssl.SSLContext | None = None
        self._read = {name: self._content(name) for name in (CERTIFICATE, KEY, TRUSTED)}
        self._changed: set[str] = set()
        self._load()

    @property
    def is_needed(self) -> bool:
        """Whether the first byte of a connection has a meaning for this server."""
        return self.context is not None or self.mode == TlsMode.ENFORCING

    def admits(self, first: bytes) -> bool:
        """Return whether a connection that begins with *first* is served."""
        if is_handshake(first):
            return self.context is not None  # [TLS-MODE-001] [TLS-CERT-003]
        return self.mode != TlsMode.ENFORCING  # [TLS-MODE-003]

    def reload(self) -> None:
        """Read changed files: certificate and key after both have changed."""
        for name, before in self._read.items():
            content = self._content(name)
            if content not in (None, before):
                self._read[name] = content
                self._changed.add(name)
        if {CERTIFICATE, KEY} <= self._changed or TRUSTED in self._changed:
            self._changed.clear()  # [TLS-RELOAD-001] [TLS-RELOAD-002]
            self._load()

    def _content(self, name: str) -> bytes | None:
        try:
            return Path(self._settings.get(name, "")).read_bytes()
        except OSError:
            return None

    def _load(self) -> None:
        """Make the context for new connections, or report why the old one stays."""
        if self.mode == TlsMode.DISABLED or not self._settings.get(CERTIFICATE):
            return
        try:
            self.context = self._new_context()
        except (OSError, ssl.SSLError) as error:
            sys.stderr.write(f"{self._settings[CERTIFICATE]} is not loaded: {error}\n")

    def _new_context(self) -> ssl.SSLContext:
        settings = self._settings
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(
            settings[CERTIFICATE],
            settings.get(KEY) or None,
            settings.get(KEY_PASSWORD) or "",
        )
        if self._verifies:  # [TLS-CLIENT-002]
            context.verify_mode = _VERIFY_MODES[self._client_auth]
            if context.verify_mode != ssl.CERT_NONE:
                _trust(context, settings.get(TRUSTED), ssl.Purpose.CLIENT_AUTH)
        return context

    @property
    def _client_auth(self) -> str:
        word = self._settings.get(CLIENT_AUTH, NONE).lower()
        return word if word in _VERIFY_MODES else NONE

    @property
    def _verifies(self) -> bool:
        return _is_true(self._settings, VERIFIES_CLIENT)


_VERIFY_MODES = {
    NONE: ssl.CERT_NONE,
    OPTIONAL: ssl.CERT_OPTIONAL,
    REQUIRE: ssl.CERT_REQUIRED,
}


def _mode(word: str) -> TlsMode:
    return TlsMode(word) if word in set(TlsMode) else TlsMode.PERMISSIVE


def is_handshake(first: bytes) -> bool:
    """Return whether a connection that begins with *first* is one of TLS."""
    return first[:1] == bytes([HANDSHAKE])


def client_context(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return the TLS of connections to other servers; None without tls.enable."""
    if not _is_true(settings, CLIENT_USES_TLS):
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if _is_true(settings, VERIFIES_SERVER):
        context.verify_mode = ssl.CERT_REQUIRED
        _trust(context, settings.get(TRUSTED_SERVERS), ssl.Purpose.SERVER_AUTH)
    if settings.get(OWN_CERTIFICATE):
        context.load_cert_chain(settings[OWN_CERTIFICATE], settings.get(OWN_KEY))
    return context


def _trust(context: ssl.SSLContext, path: str | None, purpose: ssl.Purpose) -> None:
    """Trust the certificates of a file; without one, those of the system."""
    if path:
        context.load_verify_locations(path)
    else:
        context.load_default_certs(purpose)


class Tls(Struct, frozen=True):
    """TLS of incoming and of outgoing connections."""

    server: ServerTls
    client: ssl.SSLContext | None

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Tls:
        """Return the TLS that *settings* state; raise TlsError if they cannot be."""
        try:
            return cls(ServerTls(settings), client_context(settings))
        except (OSError, ssl.SSLError) as error:
            raise TlsError(f"TLS: {error}") from None


NO_TLS = Tls.of({})
