"""After the response: units and index items come by themselves, in order."""

from __future__ import annotations

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.store.workload import Outgoing, send_all
from conformance.store.written_store import Written

pytestmark = pytest.mark.needs("store", "wire", "config")

SOON_S = 5.0


def unit_count(written: Written, topic: str, queue_id: int) -> int:
    """Return the number of units in a consume queue."""
    return len(written.files.queue(topic, queue_id).units())


@pytest.mark.restores
@pytest.mark.clause("STORE-DISPATCH-001")
def test_units_and_items_come_by_themselves(written: Written) -> None:
    topic = create_topic(written.target, unique_name("dispatch"))
    sent = written.send(Outgoing(topic=topic, properties={"KEYS": "dispatched"}))

    def indexed() -> bool:
        header = written.files.index_files()[-1].header
        return header.end_offset >= sent.commit_log_offset

    for what, condition in (
        ("the unit is written", lambda: unit_count(written, topic, 0) == 1),
        ("the index has the message", indexed),
    ):
        wait_until(condition, what=what, timeout_s=SOON_S)
    unit = written.files.queue(topic, 0).units()[0]
    expect(
        "STORE-DISPATCH-001",
        found=unit.commit_log_offset,
        expected=sent.commit_log_offset,
        what="commit_log_offset of the unit",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-DISPATCH-002")
def test_no_unit_comes_before_those_of_earlier_messages(written: Written) -> None:
    early = create_topic(written.target, unique_name("early"))
    late = create_topic(written.target, unique_name("late"))
    first = [Outgoing(topic=early, queue_id=n % 4) for n in range(40)]
    send_all(written.target, [*first, Outgoing(topic=late)])
    wait_until(
        lambda: unit_count(written, late, 0) == 1,
        what="the last message has its unit",
        timeout_s=SOON_S,
    )
    found = [unit_count(written, early, queue_id) for queue_id in range(4)]
    expect("STORE-DISPATCH-002", found=found, expected=[10] * 4, what="units by queue")
