"""
Progress of a message to the log's file and to the disk, and the responses meanwhile.

Messages stay in a buffer of the transient store pool until a flush is due, so that a
test can inspect them there.
"""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.target import Target
from spec.store.file_names import COMMIT_LOG, file_name
from spec.store.message_record import Record, decode_record
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.response_code import ResponseCode

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "restart")]

FILE_SIZE = 64 * 1024
SMALL = {"mapedFileSizeCommitLog": str(FILE_SIZE)}
NEVER_MS = "600000"
POOL = SMALL | {"transientStorePoolEnable": "true", "transientStorePoolSize": "3"}
STANDING_POOL = POOL | {
    "commitIntervalCommitLog": NEVER_MS,
    "commitCommitLogThoroughInterval": NEVER_MS,
    "commitCommitLogLeastPages": "4",
}
"""Messages in this pool stay there until it has four pages, or the broker stops."""
PAGES = bytes(5 * 4096)


def started(start_target: TargetStarter, conf: dict[str, str]) -> tuple[Target, str]:
    """Return a target and a topic of it."""
    target = start_target(conf)
    return target, create_topic(target, unique_name("flush"))


def stored(broker: Client, topic: str, body: bytes = b"small") -> str:
    """Send a message to queue 0 and return its id."""
    response = require_success(broker.send_message(topic=topic, body=body))
    return response.fields["msgId"]


def is_readable(broker: Client, message_id: str) -> bool:
    """Return whether the broker finds a message by its id."""
    return broker.view_message_by_id(message_id).code == ResponseCode.SUCCESS


def viewed(broker: Client, message_id: str) -> Record:
    """Return the record of a message that the broker finds."""
    return decode_record(require_success(broker.view_message_by_id(message_id)).body)


def log_names(target: Target) -> list[str]:
    """Return the names of the commit log's files."""
    assert target.store_path is not None
    return sorted(path.name for path in (target.store_path / COMMIT_LOG).iterdir())


@pytest.mark.clause("STORE-FLUSH-003", "STORE-FLUSH-006")
@pytest.mark.needs("kill")
def test_what_waits_in_the_pool_is_hidden_and_dies(start_target: TargetStarter) -> None:
    target, topic = started(start_target, STANDING_POOL)
    with target.connect_to_broker() as broker:
        message_id = stored(broker, topic)
        found = is_readable(broker, message_id)
        expect("STORE-FLUSH-006", found=found, expected=False, what="it is found by id")
        most = require_success(broker.max_offset(topic=topic)).fields["offset"]
        expect("STORE-FLUSH-006", found=most, expected="0", what="max offset")
    target.kill()
    target.start()
    with target.connect_to_broker() as broker:
        found = is_readable(broker, message_id)
        expect("STORE-FLUSH-003", found=found, expected=False, what="it is found by id")


@pytest.mark.clause("STORE-FLUSH-007", "STORE-FLUSH-009")
def test_enough_for_a_few_pages_is_committed(start_target: TargetStarter) -> None:
    target, topic = started(start_target, STANDING_POOL)
    with target.connect_to_broker() as broker:
        message_id = stored(broker, topic, PAGES)
        wait_until(
            lambda: is_readable(broker, message_id),
            what="five pages in the pool, where four are enough, can be read",
        )
    target.restart()
    with target.connect_to_broker() as broker:
        found = is_readable(broker, stored(broker, topic))
    expect("STORE-FLUSH-009", found=found, expected=True, what="it is found by id")


@pytest.mark.clause("STORE-FLUSH-007")
def test_a_thorough_round_commits_anything(start_target: TargetStarter) -> None:
    conf = POOL | {"commitCommitLogLeastPages": "1000"}
    target, topic = started(start_target, conf)
    with target.connect_to_broker() as broker:
        message_id = stored(broker, topic)
        wait_until(
            lambda: is_readable(broker, message_id),
            what="a small message in the pool, which is emptied every 200 ms, is read",
        )


@pytest.mark.clause("STORE-FLUSH-008")
def test_there_is_no_pool_with_sync_flush(start_target: TargetStarter) -> None:
    target, topic = started(
        start_target, STANDING_POOL | {"flushDiskType": "SYNC_FLUSH"}
    )
    with target.connect_to_broker() as broker:
        found = is_readable(broker, stored(broker, topic))
    expect("STORE-FLUSH-008", found=found, expected=True, what="it is found by id")


@pytest.mark.clause("SEND-STATE-014")
def test_a_pool_without_a_free_buffer_refuses(start_target: TargetStarter) -> None:
    target, topic = started(start_target, POOL | {"transientStorePoolSize": "2"})
    with target.connect_to_broker() as broker:
        codes = {broker.send_message(topic=topic).code}

        def is_refused() -> bool:
            codes.add(broker.send_message(topic=topic).code)
            return len(codes) > 1

        wait_until(is_refused, what="a message is refused, both buffers being taken")
    expect(
        "SEND-STATE-014",
        found=codes,
        expected={ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY},
        what="codes of the answers",
    )


@pytest.mark.clause("STORE-LOG-011", "STORE-LOG-012")
def test_the_next_file_is_made_ahead_and_deleted_unused(
    start_target: TargetStarter,
) -> None:
    target, topic = started(start_target, SMALL)
    first_three = [file_name(number * FILE_SIZE) for number in range(3)]
    with target.connect_to_broker() as broker:
        stored(broker, topic)
        wait_until(
            lambda: log_names(target) == first_three[:2],
            what="a second file is there when the first has a message",
        )
        for _ in range(4):
            stored(broker, topic, PAGES)
        wait_until(
            lambda: log_names(target) == first_three,
            what="a third file is there when the second has a message",
        )
    target.stop()
    expect(
        "STORE-LOG-012",
        found=log_names(target),
        expected=first_three[:2],
        what="files after a clean stop",
    )


@pytest.mark.clause("SEND-STATE-011", "SEND-STATE-010")
def test_a_late_flush_is_told_and_the_message_stays(
    start_target: TargetStarter,
) -> None:
    conf = SMALL | {"flushDiskType": "SYNC_FLUSH", "syncFlushTimeout": "0"}
    target, topic = started(start_target, conf)
    with target.connect_to_broker() as broker:
        responses = [broker.send_message(topic=topic, body=b"first")]

        def is_late() -> bool:
            responses.append(broker.send_message(topic=topic, body=b"late"))
            return responses[-1].code != ResponseCode.SUCCESS

        wait_until(is_late, what="no flush takes less than 0 ms")
        expect_code(
            "SEND-STATE-011",
            responses[-1],
            ResponseCode.FLUSH_DISK_TIMEOUT,
            broker.transcript,
        )
        record = viewed(broker, responses[-1].fields["msgId"])
        response = broker.send_message(topic=topic, properties={"WAIT": "false"})
        expect_code("SEND-STATE-010", response, ResponseCode.SUCCESS, broker.transcript)
    number = str(len(responses) - 1)
    expect("SEND-STATE-011", found=record.body, expected=b"late", what="body")
    expect_that(
        "SEND-STATE-011",
        responses[-1].fields["queueOffset"] == number == str(record.queue_offset),
        found=(responses[-1].fields["queueOffset"], record.queue_offset),
        expected=number,
        what="queueOffset of answer and record",
    )


@pytest.mark.clause("SEND-STATE-015")
def test_only_the_first_message_of_a_file_may_be_told_of_a_late_flush(
    start_target: TargetStarter,
) -> None:
    target, topic = started(start_target, SMALL | {"flushDiskType": "SYNC_FLUSH"})
    with target.connect_to_broker() as broker:
        responses = [broker.send_message(topic=topic, body=PAGES) for _ in range(9)]
    offsets = [decode_message_id(response.fields["msgId"])[1] for response in responses]
    begins_a_file = [offset % FILE_SIZE == 0 for offset in offsets]
    assert begins_a_file == [number % 3 == 0 for number in range(9)]
    refused = [
        (offset, response.code)
        for offset, response in zip(offsets, responses, strict=True)
        if response.code != ResponseCode.SUCCESS
    ]
    late = [
        (offset, ResponseCode.FLUSH_DISK_TIMEOUT)
        for offset, _ in refused
        if offset and offset % FILE_SIZE == 0
    ]
    expect("SEND-STATE-015", found=refused, expected=late, what="offsets not SUCCESS")
