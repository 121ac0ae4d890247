"""
``rmqc audit A --against B`` on a master's and a slave's store that real brokers wrote.

What a slave has differs from the original in ways that are legal. None of these may be
taken for a divergence.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.harness.fixtures import unique_name
from conformance.harness.speaker import succeeded
from conformance.interop.mixed import name_server
from conformance.interop.replication import (
    SLAVE_SETTINGS,
    Member,
    send_some,
    wait_for_topic,
    wait_until_same,
)

ROOT = Path(__file__).resolve().parents[2]
AUDIT_DEADLINE_S = 900
SENT = 7


def compared(store: Path, other: Path) -> dict[str, Any]:
    """Return what a sound audit of *store* against *other* says."""
    command = [sys.executable, "-m", "cli", "audit", str(store), "--against"]
    run = subprocess.run(
        [*command, str(other), "--format", "json", "--master", "local[2]"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=AUDIT_DEADLINE_S,
    )
    assert run.stderr == b""
    found: dict[str, Any] = json.loads(run.stdout)
    assert [one["message"] for one in found["violations"]] == []
    assert run.returncode == 0
    against: dict[str, Any] = found["against"]
    return against


def test_a_slave_has_its_masters_log_and_queues(tmp_path: Path) -> None:
    with name_server("4.6.0", tmp_path) as names:
        master = Member("4.6.0", [names.address], tmp_path / "master", {})
        slave = Member("4.6.0", [names.address], tmp_path / "slave", SLAVE_SETTINGS)
        with closing(master), closing(slave):
            master.start()
            slave.start()
            topic = unique_name("Compared")
            with master.speak() as broker:
                succeeded(broker.create_topic(topic=topic, queue_count=2))
            wait_for_topic(slave, topic)
            # One that has not connected yet may be sent only what is written later.
            send_some(master, topic, first=0, count=2)
            wait_until_same(master, slave, topic)
            send_some(master, topic, first=2, count=120)
            wait_until_same(master, slave, topic)
            slave.stop()
            send_some(master, topic, first=122, count=SENT)
            master.stop()
    found = compared(slave.store_path, master.store_path)
    assert found["verdict"] == "behind"
    assert found["there"]["messages_ahead"] == SENT
    assert found["here"]["messages_ahead"] == 0
