"""Secrets of a target: read from files, and in no transcript, failure or text."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.client.access import (
    AccessError,
    access_of,
    read_credentials,
)
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.targets.shared_target import SharedTarget, describe_target
from conformance.harness.targets.target import parse_target
from spec.wire.remoting.request_code import RequestCode

SECRET = "a-secret-that-no-report-may-have"  # noqa: S105


@pytest.fixture
def credentials_file(tmp_path: Path) -> Path:
    """Return a file such as tools.yml."""
    file = tmp_path / "tools.yml"
    file.write_text(f"accessKey: someone\nsecretKey: '{SECRET}'\n")
    return file


@pytest.fixture
def silent_server() -> Iterator[Address]:
    """Yield the address of a server that accepts, and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepted: list[socket.socket] = []
        thread = threading.Thread(target=lambda: accepted.append(listener.accept()[0]))
        thread.start()
        yield Address(*listener.getsockname()[:2])
        thread.join()
        accepted[0].close()


def test_no_transcript_has_the_secret(
    credentials_file: Path, silent_server: Address
) -> None:
    access = access_of({"credentials": str(credentials_file)})
    with Client.connect(silent_server, access=access) as client:
        fields = {"accessKey": "other", "secretKey": SECRET}
        with pytest.raises(NoResponseError) as failure:
            client.invoke(
                RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, dict(fields), timeout_s=0.01
            )
        data = b"".join(entry.data for entry in client.transcript)
    assert b"someone" in data
    assert SECRET.encode() not in data
    assert SECRET not in str(failure.value)
    assert SECRET not in repr(access)


def test_workers_read_the_file_themselves(credentials_file: Path) -> None:
    text = f"127.0.0.1:9876?credentials={credentials_file}"
    target = parse_target(text)
    description = describe_target(target)
    assert SECRET not in str(description)
    shared = SharedTarget(description)
    assert shared.access.credentials == target.access.credentials
    assert read_credentials(credentials_file).secret_key == SECRET


@pytest.mark.parametrize("text", ["", "accessKey: a\n", "accessKey: a\nsecretKey:\n"])
def test_an_incomplete_file_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tools.yml"
    file.write_text(text)
    with pytest.raises(AccessError, match="lacks accessKey or secretKey"):
        read_credentials(file)
