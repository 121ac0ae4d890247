"""A broker that starts with a delay offset past the end of its level's queue."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.store.workload import Outgoing, send_all
from conformance.store.written_store import SMALL_FILES
from spec.store.config.config_files import DELAY_OFFSETS_FILE, encode_delay_offsets

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "restart")]

FAR_AHEAD = 1000


def end_of(target: Target, topic: str, queue_id: int) -> int:
    """Return the max offset of a queue."""
    with target.connect_to_broker() as broker:
        response = broker.max_offset(topic=topic, queue_id=queue_id)
    return int(require_success(response).fields["offset"])


def restarted_ahead(start_target: TargetStarter) -> tuple[Target, str]:
    """Start a broker for which level 1 was delivered up to an offset far ahead.

    Return it and a topic to which messages of the levels 1 and 2 are on their way,
    in the queues 1 and 2.
    """
    target = start_target(SMALL_FILES)
    assert target.store_path is not None
    topic = create_topic(target, unique_name("ahead"))
    target.stop()
    path = StoreFiles(target.store_path).config(DELAY_OFFSETS_FILE)
    path.write_bytes(encode_delay_offsets({1: FAR_AHEAD}))
    target.start()
    levels = [
        Outgoing(topic=topic, queue_id=n, properties={"DELAY": str(n)}) for n in (1, 2)
    ]
    send_all(target, levels)
    return target, topic


@pytest.mark.clause("DELAY-START-001")
def test_a_level_that_is_ahead_delivers_nothing(start_target: TargetStarter) -> None:
    target, topic = restarted_ahead(start_target)
    wait_until(
        lambda: end_of(target, topic, 2) == 1,
        what="the message of level 2, due four seconds later, has come",
        timeout_s=30,
    )
    found = end_of(target, topic, 1)
    expect("DELAY-START-001", found=found, expected=0, what="messages of level 1")


@pytest.mark.clause("DELAY-START-002")
def test_a_level_that_is_ahead_goes_on(start_target: TargetStarter) -> None:
    target, topic = restarted_ahead(start_target)
    wait_until(
        lambda: end_of(target, topic, 1) + end_of(target, topic, 2) == 2,
        what="the messages of the levels 1 and 2 have come",
        timeout_s=30,
    )
    found = end_of(target, topic, 1)
    expect("DELAY-START-002", found=found, expected=1, what="messages of level 1")
