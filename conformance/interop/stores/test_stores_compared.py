"""
``rmqc audit A --against B`` on a master's and a slave's store that real brokers wrote.

What a slave has differs from the original in ways that are legal. None of these may be
taken for a divergence.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.interop.replication.mixed_clusters import name_server
from conformance.interop.replication.replication import (
    SLAVE_SETTINGS,
    Member,
    send_some,
    wait_for_topic,
    wait_until_same,
)
from conformance.interop.tools.audit_command import audited, finding_lines

SENT = 7


def compared(store: Path, other: Path) -> dict[str, Any]:
    """Return the result of a sound audit of *store* against *other*."""
    (found,) = audited(store, against=other)
    assert finding_lines(found) == []
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
            with master.client() as broker:
                require_success(broker.create_topic(topic=topic, queue_count=2))
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
