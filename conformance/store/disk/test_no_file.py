"""Files of a store that cannot be made, because something else has their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.target import Target
from conformance.store.workload import Outgoing, send_all
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, INDEX, file_name
from spec.store.message_record import decode_records
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.long

FILE_SIZE = 64 * 1024
HALF_A_FILE = bytes(FILE_SIZE // 2 - 1000)
LARGE = bytes(FILE_SIZE * 2 // 3)
"""A file of the log has room for one of these, and for some small messages."""
UNHURRIED_MS = 5000
"""A level so long that its second message is taken before the first is due."""


def send(broker: Client, topic: str, sent: list[Command]) -> bool:
    """Send a message; keep the response and return True if the message was stored."""
    response = broker.send_message(topic=topic, body=HALF_A_FILE)
    if response.code == ResponseCode.SUCCESS:
        sent.append(response)
        return True
    expect_code(
        "SEND-STATE-007", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )
    return False


@pytest.mark.clause("SEND-STATE-007")
@pytest.mark.needs("wire", "store", "config", "restart")
def test_a_message_without_a_file_is_refused(start_target: TargetStarter) -> None:
    target = start_target({"mapedFileSizeCommitLog": str(FILE_SIZE)})
    assert target.store_path is not None
    topic = create_topic(target, unique_name("nofile"))
    sent: list[Command] = []
    obstacle = target.store_path / COMMIT_LOG / file_name(2 * FILE_SIZE)
    with target.connect_to_broker() as broker:
        send(broker, topic, sent)
        obstacle.mkdir()
        wait_until(
            lambda: not send(broker, topic, sent),
            what="a message is refused, for it needs the file that is a directory",
        )
        obstacle.rmdir()
        wait_until(
            lambda: send(broker, topic, sent),
            what="a message is taken, for its file can be made again",
        )
        offsets = [int(response.fields["queueOffset"]) for response in sent]
        for response in sent:
            require_success(broker.view_message_by_id(response.fields["msgId"]))
    expect("SEND-STATE-007", found=offsets, expected=list(range(len(sent))))


@pytest.mark.clause("DELAY-SEND-007")
@pytest.mark.needs("wire", "store", "config", "restart")
def test_what_could_not_be_delivered_is_tried_again(
    start_target: TargetStarter,
) -> None:
    settings = {
        "mapedFileSizeCommitLog": str(FILE_SIZE),
        "messageDelayLevel": f"{UNHURRIED_MS // 1000}s",
    }
    target = start_target(settings)
    assert target.store_path is not None
    topic = create_topic(target, unique_name("late"))

    def later(body: bytes) -> Outgoing:
        return Outgoing(topic=topic, body=body, properties={"DELAY": "1"})

    obstacle = target.store_path / COMMIT_LOG / file_name(2 * FILE_SIZE)
    send_all(target, [Outgoing(topic=topic, body=LARGE)])
    obstacle.mkdir()
    send_all(target, [later(LARGE), later(b"next")])
    due_ms = now_ms() + UNHURRIED_MS
    # Messages sent before that time could themselves use the space of the first one.
    wait_until(lambda: now_ms() >= due_ms, what="the first is due")
    with target.connect_to_broker() as broker:

        def is_taken() -> bool:
            return broker.send_message(topic=topic, queue_id=1).code == 0

        wait_until(
            lambda: not is_taken(),
            what="no message is taken, since the first that was due found no room",
            timeout_s=30,
        )
        obstacle.rmdir()
        wait_until(is_taken, what="a message is taken again", timeout_s=30)
        send_all(target, [later(b"last")])
        found: list[bytes] = []

        def has_come() -> bool:
            body = broker.pull(topic=topic, offset=1).body
            found[:] = [record.body for record in decode_records(body)]
            return b"last" in found

        wait_until(has_come, what="the last message has come", timeout_s=30)
    expect(
        "DELAY-SEND-007",
        found=[body if body in {b"next", b"last"} else len(body) for body in found],
        expected=[len(LARGE), b"next", b"last"],
        what="size of the large body, and those of level 1 behind it",
    )


@pytest.mark.clause("SEND-STATE-004")
@pytest.mark.needs("wire", "store", "config", "restart")
def test_a_broker_without_a_queue_takes_nothing(start_target: TargetStarter) -> None:
    target, topic, obstacle = with_obstacle(start_target, CONSUME_QUEUE)
    with target.connect_to_broker() as broker:
        responses = [require_success(broker.send_message(topic=topic))]

        def is_refused() -> bool:
            responses.append(broker.send_message(topic=topic))
            return responses[-1].code != ResponseCode.SUCCESS

        wait_until(
            is_refused, what="a message is refused, after 30 attempts", timeout_s=60
        )
        obstacle.unlink()
        responses.append(broker.send_message(topic=topic))
        for response in responses[-2:]:
            code = ResponseCode.SERVICE_NOT_AVAILABLE
            expect_code("SEND-STATE-004", response, code, broker.transcript)
    target.restart()
    with target.connect_to_broker() as broker:
        response = require_success(broker.send_message(topic=topic))
    found, stored = response.fields["queueOffset"], len(responses) - 2
    expect("SEND-STATE-004", found=found, expected=str(stored), what="queueOffset")


@pytest.mark.clause("STORE-DISPATCH-003")
@pytest.mark.needs("wire", "store", "config", "restart")
def test_a_broker_without_an_index_shows_nothing(start_target: TargetStarter) -> None:
    target, topic, obstacle = with_obstacle(start_target, INDEX)
    with target.connect_to_broker() as broker:

        def shown() -> int:
            response = require_success(broker.max_offset(topic=topic))
            return int(response.fields["offset"])

        require_success(broker.send_message(topic=topic))
        wait_until(lambda: shown() == 1, what="the first message is in its queue")
        for _ in range(3):
            require_success(broker.send_message(topic=topic))
        expect("STORE-DISPATCH-003", found=shown(), expected=1, what="max offset")
        obstacle.unlink()
        wait_until(lambda: shown() == 4, what="all messages are in their queue")


def with_obstacle(
    start_target: TargetStarter, directory: str
) -> tuple[Target, str, Path]:
    """Return a target, a topic, and the file in the place of a directory for it."""
    target = start_target({"mapedFileSizeCommitLog": str(FILE_SIZE)})
    assert target.store_path is not None
    topic = create_topic(target, unique_name("obstacle"))
    place = target.store_path / directory
    if directory == CONSUME_QUEUE:
        place = place / topic
    if place.is_dir():
        place.rmdir()
    place.parent.mkdir(exist_ok=True)
    place.write_text("no directory")
    return target, topic, place
