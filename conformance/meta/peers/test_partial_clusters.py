"""Clusters without a broker, and peers that accept connections and stay silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer
from conformance.harness.targets import health
from conformance.harness.targets.target import TargetError, parse_target
from conformance.meta.made_suite import AS_4_6, NEEDS_TOPIC, READS, run_made
from conformance.meta.peers.lying_cluster import empty
from spec.wire.remoting.command import Command

READS_ROUTES = """
@pytest.mark.clause("WIRE-FRAME-004")
def test_the_name_server(namesrv):
    require_success(namesrv.cluster_info())
"""
OBSERVES = """
from conformance.harness.pytest_plugin.background import result_of

@pytest.fixture
def lock_expiry(pytestconfig):
    return result_of(pytestconfig, "lock_expiry")

@pytest.mark.clause("WIRE-FRAME-006")
def test_of_an_observation(lock_expiry):
    pass
"""


def silent(_: Command) -> None:
    """Send nothing."""


def test_without_a_broker_only_its_tests_have_no_verdict(tmp_path: Path) -> None:
    with LyingServer(empty) as server:
        tests = READS + NEEDS_TOPIC + READS_ROUTES + OBSERVES
        ended = run_made(
            tmp_path, str(server.address), tests, AS_4_6, has_baseline=True
        )
    assert ended.outcomes == {
        "WIRE-FRAME-001": "unsupported",
        "WIRE-FRAME-004": "pass",
        "WIRE-FRAME-005": "unsupported",
        "WIRE-FRAME-006": "unsupported",
    }
    reason = f"no broker is registered with {server.address}"
    for name in ("WIRE-FRAME-001", "WIRE-FRAME-006"):
        assert ended.reasons[name].startswith(reason)
    assert ended.code == 0


def test_a_silent_peer_ends_the_run_before_the_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "PATIENCE_S", 0.2)
    with (
        LyingServer(silent) as server,
        pytest.raises(TargetError, match="accepts connections, but sends no response"),
    ):
        parse_target(str(server.address)).start()


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_peer_that_responds_or_closes_is_not_silent(is_closed: bool) -> None:
    with LyingServer(lambda _: b"" if is_closed else b"x") as server:
        assert not health.is_silent(server.address)
    assert not health.is_silent(Address("127.0.0.1", 1))
