"""Targets that a test starts end with it, also where the end of one fails."""

from __future__ import annotations

from pathlib import Path

from conformance.meta.made_suite import run_made

STARTS_TWO = """
import os
from unittest import mock
from conformance.harness.process.process import ProcessError

started = []

@pytest.mark.clause("WIRE-FRAME-001")
def test_starts_two(start_target):
    first, second = start_target(), start_target()
    started.append(first)
    second._end = mock.Mock(side_effect=ProcessError("it does not end"))

@pytest.mark.clause("WIRE-FRAME-002")
def test_the_first_has_ended():
    assert started[0].process_id is None

@pytest.mark.clause("WIRE-FRAME-003")
def test_one_that_does_not_start_ends(start_target, monkeypatch):
    def start(target):
        started.append(target)
        real_start(target)
        raise ProcessError("it is not ready")
    real_start = EmbeddedTarget._start
    monkeypatch.setattr(EmbeddedTarget, "_start", start)
    start_target()

@pytest.mark.clause("WIRE-FRAME-004")
def test_that_one_has_ended():
    assert started[1].process_id is None
"""
IMPORTS = """
from conformance.harness.targets.started.embedded import EmbeddedTarget
"""


def test_each_target_of_a_test_ends(tmp_path: Path) -> None:
    ended = run_made(tmp_path, "embedded:", IMPORTS + STARTS_TWO)
    assert ended.outcomes == {
        "WIRE-FRAME-001": "error",
        "WIRE-FRAME-002": "pass",
        "WIRE-FRAME-003": "error",
        "WIRE-FRAME-004": "pass",
    }, ended.output
