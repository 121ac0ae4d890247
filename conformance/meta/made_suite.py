"""
A made-up suite: a file of tests with chosen clauses and verdicts, run on a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from conformance.harness.child_run.child_run import ChildRun, run_child
from conformance.meta.peers.lying_cluster import lying_cluster

AS_4_6 = "--profile=4.6"
PRELUDE = """
import pytest
from dataclasses import replace
from hypothesis import HealthCheck, given, settings, strategies as st
from conformance.harness.client.client import require_success
from conformance.harness.targets.target import Capability
from conformance.harness.pytest_plugin.expectations import expect

def fails(clause, transcript=None):
    expect(clause, found=1, expected=2, what="code", transcript=transcript)
"""
PASSES = """
@pytest.mark.clause("WIRE-FRAME-001")
def test_passes(broker):
    assert broker.max_offset(topic="T").code == 0
"""
FAILS = """
@pytest.mark.clause("WIRE-FRAME-001", "WIRE-FRAME-002")
def test_fails(broker):
    broker.max_offset(topic="T")
    fails("WIRE-FRAME-002", broker.transcript)
"""
READS = """
@pytest.mark.clause("WIRE-FRAME-001")
def test_first(broker):
    require_success(broker.max_offset(topic="T"))
"""
NEEDS_TOPIC = """
@pytest.mark.clause("WIRE-FRAME-005")
def test_with_a_topic(broker, topic):
    fails("WIRE-FRAME-005")
"""
BROKEN_SENDS = """
@pytest.mark.clause("PULL-COUNT-001")
def test_pulls_what_it_sent(broker, topic):
    require_success(broker.send_message(topic=topic, body=b"x"))

@pytest.mark.clause("SEND-RESPONSE-001")
def test_the_send_itself(broker, topic):
    require_success(broker.send_message(topic=topic, body=b"x"))

@pytest.mark.clause("WIRE-FRAME-001")
def test_without_a_send(broker):
    fails("WIRE-FRAME-001")

@pytest.mark.clause("WIRE-FRAME-002")
def test_expects_messages(broker):
    [][0]
"""


def run_made(
    directory: Path,
    target: str,
    tests: str,
    *options: str,
    has_baseline: bool = False,
) -> ChildRun:
    """Run *tests* as the only file of a suite, in *directory*, on *target*."""
    folder = directory / "conformance" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_made.py").write_text(PRELUDE + tests, encoding="utf-8")
    words = [f"--rootdir={folder}", f"--target={target}", *options]
    return run_child([folder], *words, has_baseline=has_baseline)


def run_faulty(
    directory: Path,
    tests: str,
    *options: str,
    changes: Mapping[str, object] = MappingProxyType({}),
) -> ChildRun:
    """Run *tests* on a faulty cluster that reports release 4.9.7.

    Its responses have *changes*.
    """
    with lying_cluster(**changes) as cluster:
        return run_made(directory, str(cluster.address), tests, *options)


def known_file(directory: Path, clause: str) -> str:
    """Return the option that names a file with *clause* as a known failure."""
    file = directory / "known.toml"
    entry = f'[[known]]\nclause = "{clause}"\nreason = "it is so"\ntarget = "127.*"\n'
    file.write_text(entry, encoding="utf-8")
    return f"--known={file}"
