"""Starting again: after a kill, and on a store of which a part was taken away."""

from __future__ import annotations

import shutil

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.store.workload import Outgoing, Sent, send_all
from conformance.store.written_store import SMALL_FILES, wait_until_dispatched
from spec.routing.topic_config import decode_topic_table
from spec.store.config.config_files import TOPICS_FILE
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config")]

COUNT = 60
CRC_IS_ZERO = bytes.fromhex("9d0ad96d")
"""A body whose CRC-32 is 0."""


def offsets_of(broker: Client, topic: str) -> tuple[int, int]:
    """Return the min and max offset of a topic's queue 0."""
    responses = (broker.min_offset(topic=topic), broker.max_offset(topic=topic))
    least, most = (
        int(require_success(response).fields["offset"]) for response in responses
    )
    return least, most


def filled(target: Target) -> tuple[StoreFiles, str, list[Sent]]:
    """Send messages to queue 0 of a new topic; return files, topic and messages."""
    assert target.store_path is not None
    topic = create_topic(target, unique_name("again"))
    messages = [
        Outgoing(topic=topic, body=bytes(3000), properties={"KEYS": f"k{n}"})
        for n in range(COUNT)
    ]
    messages[COUNT // 2] = Outgoing(topic=topic, body=CRC_IS_ZERO)
    sent = send_all(target, messages)
    files = StoreFiles(target.store_path)
    wait_until_dispatched(files, sent[-1])
    return files, topic, sent


def expect_offsets(clause: str, broker: Client, topic: str, most: int) -> None:
    """Fail *clause* unless the queue goes from 0 to *most*."""
    found = offsets_of(broker, topic)
    expect(clause, found=found, expected=(0, most), what="min and max offset")


@pytest.mark.clause("OFFSET-MIN-001")
@pytest.mark.needs("restart")
def test_each_queue_has_a_min_offset_of_its_own(start_target: TargetStarter) -> None:
    target = start_target(SMALL_FILES)
    files, topic, sent = filled(target)
    late = create_topic(target, unique_name("late"))
    with target.connect_to_broker() as broker:
        require_success(broker.send_message(topic=late, queue_id=1))
        broker.wait_for_max_offset(topic=late, queue_id=1, offset=1)
    target.stop()
    first, second, *_ = sorted((files.path / COMMIT_LOG).iterdir())
    first.unlink()
    target.start()
    begin = int(second.name)
    kept = [one.queue_offset for one in sent if one.commit_log_offset >= begin]
    with target.connect_to_broker() as broker:
        found = {
            (name, queue_id): broker.min_offset(topic=name, queue_id=queue_id)
            for name in (topic, late)
            for queue_id in (0, 1)
        }
    expect(
        "OFFSET-MIN-001",
        found={
            place: int(require_success(response).fields["offset"])
            for place, response in found.items()
        },
        expected={(topic, 0): kept[0], (topic, 1): 0, (late, 0): 0, (late, 1): 0},
        what="min offset by topic and queue, without the log's first file",
    )


@pytest.mark.clause(
    "STORE-FLUSH-002", "REC-DISPATCH-004", "REC-DISPATCH-005", "REC-SCAN-007"
)
@pytest.mark.needs("kill")
def test_a_killed_broker_has_all_it_answered(start_target: TargetStarter) -> None:
    target = start_target(SMALL_FILES)
    files, topic, sent = filled(target)
    target.kill()
    target.start()
    stored = {placed.offset for placed in files.records()}
    lost = [s.commit_log_offset for s in sent if s.commit_log_offset not in stored]
    zero = sent[COUNT // 2].commit_log_offset
    is_there = lost[:1] != [zero]  # If earlier ones are lost, it is not to blame.
    expect("REC-SCAN-007", found=is_there, expected=True, what="the record is there")
    expect("STORE-FLUSH-002", found=lost, expected=[], what="offsets of lost messages")
    with target.connect_to_broker() as broker:
        expect_offsets("REC-DISPATCH-005", broker, topic, COUNT)
        response = require_success(broker.send_message(topic=topic))
    found = response.fields["queueOffset"]
    expect("REC-DISPATCH-004", found=found, expected=str(COUNT), what="queueOffset")


@pytest.mark.clause("REC-DISPATCH-001")
@pytest.mark.needs("restart")
def test_what_was_derived_is_made_again(start_target: TargetStarter) -> None:
    _restarted_without(CONSUME_QUEUE, start_target, "REC-DISPATCH-001", COUNT)


@pytest.mark.clause("REC-DISPATCH-010")
@pytest.mark.needs("restart")
def test_what_was_derived_is_made_in_the_scan(start_target: TargetStarter) -> None:
    _restarted_without(CONSUME_QUEUE, start_target, "REC-DISPATCH-010", COUNT)


@pytest.mark.clause("REC-DISPATCH-006")
@pytest.mark.needs("restart")
def test_lost_queues_stay_lost(start_target: TargetStarter) -> None:
    _restarted_without(CONSUME_QUEUE, start_target, "REC-DISPATCH-006", 0)


@pytest.mark.clause("REC-TRUNCATE-004")
@pytest.mark.needs("restart")
def test_queues_go_with_their_log(start_target: TargetStarter) -> None:
    _restarted_without(COMMIT_LOG, start_target, "REC-TRUNCATE-004", 0)


@pytest.mark.clause("REC-TRUNCATE-005")
@pytest.mark.needs("restart")
def test_queues_outlive_their_log(start_target: TargetStarter) -> None:
    _restarted_without(COMMIT_LOG, start_target, "REC-TRUNCATE-005", COUNT)


def _restarted_without(
    folder: str, start_target: TargetStarter, clause: str, most: int
) -> None:
    """Start without *folder* of a stopped store; check *clause* by the max offset."""
    target = start_target(SMALL_FILES)
    files, topic, _ = filled(target)
    target.stop()
    shutil.rmtree(files.path / folder)
    target.start()
    with target.connect_to_broker() as broker:
        expect_offsets(clause, broker, topic, most)


@pytest.mark.clause("REC-TRUNCATE-001", "REC-QUEUE-002", "STORE-CONFIG-013")
@pytest.mark.needs("restart")
def test_a_torn_end_is_cut_off_log_and_queue(start_target: TargetStarter) -> None:
    target = start_target(SMALL_FILES)
    early = create_topic(target, unique_name("early"))
    files, topic, sent = filled(target)
    target.stop()
    last = files.log_files()[-1]
    placed = last.scan.records[-1]
    assert placed.offset == sent[-1].commit_log_offset
    begin = placed.offset - last.begin_offset
    path = files.path / COMMIT_LOG / last.name
    path.write_bytes(bytes(last.data[: begin + 40]).ljust(len(last.data), b"\0"))
    files.config(TOPICS_FILE).write_bytes(bytes(200))
    target.start()
    with target.connect_to_broker() as broker:
        expect_offsets("REC-QUEUE-002", broker, topic, COUNT - 1)
        table = decode_topic_table(require_success(broker.all_topic_config()).body)
    kept = early in table.topics
    expect("STORE-CONFIG-013", found=kept, expected=True, what="the topic is there")
    again = send_all(target, [Outgoing(topic=topic)])[0]
    expect(
        "REC-TRUNCATE-001",
        found=again.commit_log_offset,
        expected=placed.offset,
        what="offset of the next record",
    )
