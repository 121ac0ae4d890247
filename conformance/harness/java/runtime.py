"""
Options of Java for the real RocketMQ, and its trusted certificates.

Behind a proxy with its own certificate authority, Python uses the bundle of
``SSL_CERT_FILE`` or the system. Java has a list of its own: `trust_store` makes one
with the same certificates, in the user's cache. It is encoded here because keytool
imports one certificate a run: 90 s for a typical bundle.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import ssl
import struct
from pathlib import Path

from java_runtime.user_cache import cache_directory

TRUST_STORE_PASSWORD = "changeit"  # noqa: S105 - Java's customary one; nothing secret
"""The password that a trust store has to have."""

_JKS_MAGIC = 0xFEEDFEED
_JKS_TRUSTED = 2
_JKS_WHITENER = b"Mighty Aphrodite"

FAST_START = (
    "-XX:TieredStopAtLevel=1",
    # Compiles later: a start takes a sixth less processor time.
    "-XX:CompileThresholdScaling=4",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    # Otherwise a thread samples counters for jstat 20 times a second.
    "-XX:-UsePerfData",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    # Without this one a 4.x store fails to unmap, and never ends its shutdown.
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "-Djava.net.preferIPv4Stack=true",
)
"""Options for a short life on few cores; the stores' mapped buffers need the opens."""


def certificate_bundle() -> Path | None:
    """Return the file of certificates that Python trusts, if it is a file."""
    named = os.environ.get("SSL_CERT_FILE")
    paths = ssl.get_default_verify_paths()
    for candidate in (named, paths.cafile, "/etc/ssl/certs/ca-certificates.crt"):
        if candidate and Path(candidate).is_file():
            return Path(candidate)
    return None


@functools.cache
def trust_store() -> Path | None:
    """
    Return a JKS trust store with the certificates that Python trusts.

    None when Python has no bundle either; Java's own list must do then. A store is
    made once for each content of the bundle.
    """
    bundle = certificate_bundle()
    if bundle is None:
        return None
    text = bundle.read_text(encoding="utf-8", errors="replace")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    store = cache_directory() / f"trust-{digest}.jks"
    if not store.exists():
        draft = store.with_suffix(f".{os.getpid()}")
        draft.write_bytes(encode_trust_store(_certificates(text)))
        draft.replace(store)
    return store


def trust_options() -> list[str]:
    """Return the options that make Java trust what Python trusts."""
    store = trust_store()
    if store is None:
        return []
    return [
        f"-Djavax.net.ssl.trustStore={store}",
        f"-Djavax.net.ssl.trustStorePassword={TRUST_STORE_PASSWORD}",
        "-Djavax.net.ssl.trustStoreType=JKS",
    ]


def encode_trust_store(certificates: list[bytes]) -> bytes:
    """Return *certificates* (DER) as Java's own key store format, version 2."""
    entries = [struct.pack(">III", _JKS_MAGIC, 2, len(certificates))]
    for index, certificate in enumerate(certificates):
        entries += [
            struct.pack(">I", _JKS_TRUSTED),
            _java_text(f"authority-{index}"),
            struct.pack(">Q", 0),  # created at: unimportant, and so reproducible
            _java_text("X.509"),
            struct.pack(">I", len(certificate)),
            certificate,
        ]
    data = b"".join(entries)
    secret = TRUST_STORE_PASSWORD.encode("utf-16-be") + _JKS_WHITENER
    return data + hashlib.sha1(secret + data).digest()  # noqa: S324 - as the format says


def _java_text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _certificates(bundle: str) -> list[bytes]:
    pattern = r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----"
    found = dict.fromkeys(re.findall(pattern, bundle, re.DOTALL))
    return [ssl.PEM_cert_to_DER_cert(text) for text in found]
