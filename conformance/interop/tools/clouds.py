"""
Emulators of Google Cloud Storage and Azure Blob Storage on loopback.

gcp-storage-emulator comes from PyPI and Azurite from npm. Both are pinned and kept in
the user's cache. They keep objects in memory, and end with this process.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from conformance.harness.process.ports import port_block
from conformance.harness.process.process import ProcessError, accepts, start
from java_runtime.user_cache import made_once

GOOGLE = ("gcp-storage-emulator==2026.7.19", "google-crc32c==1.9.0")
AZURITE = "azurite@3.37.0"
ACCOUNT = "brokers"
KEY = base64.b64encode(b"secret-of-the-test").decode()
"""Key of ACCOUNT, in Base64."""
INSTALL_S = 600.0
READY_S = 60.0


@contextmanager
def google(directory: Path, bucket: str) -> Iterator[str]:
    """Yield the address HOST:PORT of a Google Cloud Storage with an empty *bucket*.

    Raises ProcessError. The log is in *directory*.
    """
    packages = made_once(f"clouds/{GOOGLE[0]}", _install_google)
    program = "from gcp_storage_emulator.__main__ import main; main()"
    command = [sys.executable, "-c", program, "start", "--in-memory"]
    with port_block() as block:
        words = ["--host", "127.0.0.1", "--port", str(block.broker)]
        with _running(
            [*command, *words, "--default-bucket", bucket],
            port=block.broker,
            directory=directory,
            environment={"PYTHONPATH": str(packages)},
        ) as address:
            yield address


@contextmanager
def azure(directory: Path) -> Iterator[str]:
    """Yield the address HOST:PORT of an empty Azure Blob Storage of ACCOUNT.

    Raises ProcessError. The log is in *directory*.
    """
    packages = made_once(f"clouds/{AZURITE}", _install_azurite)
    program = packages / "node_modules" / "azurite" / "dist/src/blob/main.js"
    # Arrow's client is newer than the versions of the API that Azurite lists.
    options = ["--skipApiVersionCheck", "--disableTelemetry", "--inMemoryPersistence"]
    with port_block() as block:
        words = ["--blobHost", "127.0.0.1", "--blobPort", str(block.broker)]
        with _running(
            [_program("node"), str(program), *options, *words],
            port=block.broker,
            directory=directory,
            environment={"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"},
        ) as address:
            yield address


def sas_token(key: str = KEY) -> str:
    """Return a SAS token to read and list all blobs of ACCOUNT, signed with *key*.

    Its form is that of an account SAS of version 2018-11-09.
    """
    rights = {"sp": "rl", "ss": "b", "srt": "sco", "se": "2100-01-01T00:00:00Z"}
    fields = {**rights, "spr": "https,http", "sv": "2018-11-09"}
    signed = (ACCOUNT, *("rl", "b", "sco"), "", fields["se"], "", fields["spr"])
    text = "\n".join([*signed, fields["sv"], ""]).encode()
    digest = hmac.digest(base64.b64decode(key), text, hashlib.sha256)
    return urlencode({**fields, "sig": base64.b64encode(digest).decode()})


@contextmanager
def _running(
    command: list[str], *, port: int, directory: Path, environment: dict[str, str]
) -> Iterator[str]:
    """Run the emulator *command* until it accepts at *port*, and yield its address."""
    emulator = start(
        "emulator",
        command,
        log=directory / "emulator.log",
        environment=environment,
        directory=directory,
    )
    try:
        has_begun = partial(accepts, "127.0.0.1", port)
        emulator.wait_until(has_begun, what="connection", deadline_s=READY_S)
        yield f"127.0.0.1:{port}"
    finally:
        emulator.kill()


def _install_google(folder: Path) -> None:
    words = [sys.executable, "-m", "pip", "install", "--no-deps", "--target"]
    _run([*words, str(folder), *GOOGLE])


def _install_azurite(folder: Path) -> None:
    words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]
    _run([_program("npm"), *words, str(folder), AZURITE])


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ProcessError(f"no {name} on the PATH, and Azurite needs it")
    return found


def _run(words: list[str]) -> None:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=INSTALL_S, check=False
    )
    if done.returncode != 0:
        raise ProcessError(f"{words[0]} failed: {done.stderr.strip()[-2000:]}")
