"""Messages that name queues that are not light, beside light ones."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from spec.wire.message.multi_dispatch import QUEUES, SEPARATOR, dispatches_of
from spec.wire.message.properties import decode_properties

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "restart")]

SETTINGS = {"enableMultiDispatch": "true", "enableLmq": "true"}
LIGHT = "%LMQ%conformance_c"
QUEUE_ID = 1
"""A queue id that LMQs do not have."""


@pytest.fixture
def dispatching(start_target: TargetStarter) -> Target:
    """Return a target that puts messages into the queues that they name."""
    return start_target(SETTINGS)


@pytest.mark.clause("STORE-MULTIDISPATCH-006")
def test_a_plain_queue_before_a_light_one_ends_dispatch(dispatching: Target) -> None:
    topic = create_topic(dispatching, unique_name("stuck"))
    other = create_topic(dispatching, unique_name("behind"))
    sent = [
        (topic, LIGHT),
        (topic, SEPARATOR.join(["Other", LIGHT])),
        (topic, ""),
        (other, ""),
    ]
    files = _files_after_stop(dispatching, sent)
    log = {one.offset: one.record.topic for one in files.records()}
    first, second, *_ = (at for at, name in log.items() if name in {topic, other})
    found = {
        name: [unit.commit_log_offset for unit in files.queue(name, queue_id).units()]
        for name, queue_id in ((topic, QUEUE_ID), (other, QUEUE_ID), (LIGHT, 0))
    }
    expect(
        "STORE-MULTIDISPATCH-006",
        found=found,
        expected={topic: [first, second], other: [], LIGHT: [first]},
        what="offsets in the commit log for which there are units",
    )


@pytest.mark.clause("STORE-MULTIDISPATCH-007")
def test_a_plain_queue_counts_what_names_it_and_its_own(dispatching: Target) -> None:
    topic = create_topic(dispatching, unique_name("naming"))
    other = create_topic(dispatching, unique_name("named"))
    both = SEPARATOR.join([other, LIGHT])
    sent = [(topic, both), (other, ""), (topic, both)]
    files = _files_after_stop(dispatching, sent)
    records = [one for one in files.records() if one.record.topic in {topic, other}]
    units = files.queue(other, QUEUE_ID).units()
    expect(
        "STORE-MULTIDISPATCH-007",
        found=[unit.commit_log_offset for unit in units],
        expected=[one.offset for one in records],
        what="offsets in the commit log for which the other queue has units",
    )
    naming = [one.record.properties for one in records if one.record.topic == topic]
    dispatches = [dispatches_of(decode_properties(one)) for one in naming]
    expect(
        "STORE-MULTIDISPATCH-007",
        found=[[(one.queue, one.queue_offset) for one in row] for row in dispatches],
        expected=[[(other, 0), (LIGHT, 0)], [(other, 2), (LIGHT, 1)]],
        what="queues and offsets in the properties",
    )


def _files_after_stop(target: Target, sent: list[tuple[str, str]]) -> StoreFiles:
    """Send messages, each a topic and the queues it names; return the store's files.

    The target is shut down in order. On shutdown a broker waits up to 5 s for its
    dispatch (5.3.3 ReputMessageService#shutdown). A missing unit is therefore not
    just late. The number of records shows that none is missing.
    """
    assert target.store_path is not None
    with target.connect_to_broker() as broker:
        for topic, queues in sent:
            properties = {QUEUES: queues} if queues else {}
            response = broker.send_message(
                topic=topic, queue_id=QUEUE_ID, properties=properties
            )
            require_success(response)
    target.stop()
    files = StoreFiles(target.store_path)
    topics = {topic for topic, _ in sent}
    stored = [r.record.topic for r in files.records() if r.record.topic in topics]
    assert stored == [topic for topic, _ in sent]
    return files
