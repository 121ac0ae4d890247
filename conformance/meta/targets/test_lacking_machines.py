"""A machine without loopback or without free space gives no verdict about a target."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from conformance.harness.process.workspace import FREE_MIN
from conformance.harness.targets.target import TargetError, parse_target
from conformance.meta.made_suite import run_made

NEARLY_FULL = f"""
import shutil
from unittest import mock

@pytest.fixture(params=[{FREE_MIN - 1}, {FREE_MIN}], ids=["full", "free"])
def disk(request, monkeypatch):
    usage = mock.Mock(return_value=mock.Mock(free=request.param))
    monkeypatch.setattr(shutil, "disk_usage", usage)

@pytest.mark.clause("WIRE-FRAME-001")
def test_passes(disk):
    pass
"""
FAILS = """
@pytest.mark.clause("WIRE-FRAME-002")
def test_fails(disk):
    fails("WIRE-FRAME-002")
"""


@pytest.mark.parametrize(("disk", "outcome"), [("full", "error"), ("free", "fail")])
def test_a_failure_on_a_full_disk_is_an_error(
    tmp_path: Path, disk: str, outcome: str
) -> None:
    ended = run_made(tmp_path, "embedded:", NEARLY_FULL + FAILS, "-k", disk)
    assert ended.outcomes == {"WIRE-FRAME-001": "pass", "WIRE-FRAME-002": outcome}
    assert ("less than 16 MiB free" in ended.output) == (disk == "full")


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
