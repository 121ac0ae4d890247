"""A machine that lacks loopback, space or files gives no verdict about a target."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from conformance.harness.process.workspace import FILES_MIN, FREE_MIN
from conformance.harness.targets.target import TargetError, parse_target
from conformance.meta.made_suite import run_made

LACKING = f"""
import resource, shutil
from unittest import mock

LACKS = {{
    "full": ({FREE_MIN - 1}, {FILES_MIN}),
    "narrow": ({FREE_MIN}, {FILES_MIN - 1}),
    "roomy": ({FREE_MIN}, {FILES_MIN}),
}}

@pytest.fixture(params=LACKS)
def machine(request, monkeypatch):
    free, files = LACKS[request.param]
    usage = mock.Mock(return_value=mock.Mock(free=free))
    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))

@pytest.mark.clause("WIRE-FRAME-001")
def test_passes(machine):
    pass

@pytest.mark.clause("WIRE-FRAME-002")
def test_fails(machine):
    fails("WIRE-FRAME-002")
"""


@pytest.mark.parametrize(
    ("machine", "outcome", "reason"),
    [
        ("full", "error", "has less than 16 MiB free"),
        ("narrow", "error", "no more than 1023 files may be open"),
        ("roomy", "fail", ""),
    ],
)
def test_a_failure_on_a_machine_that_lacks_something_is_an_error(
    tmp_path: Path, machine: str, outcome: str, reason: str
) -> None:
    ended = run_made(tmp_path, "embedded:", LACKING, "-k", machine)
    assert ended.outcomes == {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": outcome}
    assert reason in ended.reasons["WIRE-FRAME-002"]


@pytest.mark.parametrize("text", ["embedded:", "client:true"])
def test_a_machine_without_loopback_starts_no_target(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    monkeypatch.setattr(socket, "create_connection", refused)
    target = parse_target(text)
    try:
        with pytest.raises(
            TargetError, match=r"connect to .*: Network is unreachable$"
        ):
            target.start()
    finally:
        target.close()
