"""A disk that is full to the last byte: nothing that was acknowledged is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import PeerError, PeerMisbehavedError
from conformance.harness.process.deadline import wait_until
from conformance.harness.process.small_disk import NoSmallDiskError, SmallDisk, mount
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.recovery.load import Acknowledged, Draft, send_one
from conformance.recovery.queue_checks import check_survivors, lost_of, queues_of
from conformance.recovery.restart import start_after_kill
from spec.layout import LayoutError
from spec.store.config.config_files import (
    CONSUMER_OFFSETS_FILE,
    decode_consumer_offsets,
)
from spec.store.message_record import decode_records
from spec.wire.remoting.response_code import ResponseCode

pytestmark = [pytest.mark.long, pytest.mark.needs("wire", "store", "config", "kill")]

SETTINGS = {
    "mapedFileSizeCommitLog": str(1024 * 1024),
    "mapedFileSizeConsumeQueue": str(20 * 200),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    # 5.x otherwise keeps a timer's log of 100 MB.
    "timerWheelEnable": "false",
}
PERIOD_MS = 500
"""Period at which the offsets of consumer groups are persisted."""
COMMITTED = 7
GROUPS, LONG_NAME = 120, 110
"""A table of several pages: 5.3.3 writes a file in place, in the pages that it had."""
FULL_S = 4 * PERIOD_MS / 1000
"""Duration of a full disk: long enough for some refused writes of the offsets."""
BODY = bytes(8 * 1024)
BEFORE = 100
"""Messages that fit while there is room."""
MOST = 1000
"""More than the files that are there can take: 8 MB."""
SPACE_TIMEOUT_S = 40.0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Yield a small disk, empty."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(mount(tmp_path / "disk"))
        except NoSmallDiskError as error:
            unsupported(str(error))
        yield made


def sent_until_refused(broker: Client, topic: str, most: int) -> list[Acknowledged]:
    """Send until a message is not acknowledged; return those that were."""
    done: list[Acknowledged] = []
    for _ in range(most):
        draft = Draft(topic=topic, queue_id=0, key=unique_name("full"), body=BODY)
        try:
            found = send_one(broker, [draft])
        except (PeerError, PeerMisbehavedError):
            break  # a broker that is not answering has not acknowledged either
        if not found:
            break
        done += found
    return done


def filled(
    target: Target, disk: SmallDisk, topic: str
) -> tuple[list[Acknowledged], list[Acknowledged]]:
    """Send, fill the disk, send until refused; return what was acknowledged in both."""
    with target.connect_to_broker() as broker:
        early = sent_until_refused(broker, topic, BEFORE)
        assert len(early) == BEFORE, "there was room for these"
        disk.fill()
        return early, sent_until_refused(broker, topic, MOST)


def lost_among(broker: Client, sent: list[Acknowledged]) -> list[bool]:
    """Return of each of *sent* whether it is not there."""
    lost = lost_of(sent, queues_of(broker, ((one.topic, 0) for one in sent)))
    return [one in lost for one in sent]


@pytest.mark.clause("REC-DISKFULL-001", "REC-DISKFULL-003")
def test_a_full_disk_takes_nothing_that_there_was(
    start_target: TargetStarter, disk: SmallDisk
) -> None:
    target = start_target(SETTINGS, store=disk.path / "store")
    topic = create_topic(target, unique_name("full"), queue_count=1)
    early, late = filled(target, disk, topic)
    refused = len(late) < MOST
    expect(
        "REC-DISKFULL-001", found=refused, expected=True, what="something was refused"
    )
    target.kill()
    disk.free()
    start_after_kill(target)
    with target.connect_to_broker() as broker:
        check_survivors(broker, early, clause="REC-DISKFULL-001", seed=0)
        lost = lost_among(broker, late)
        require_success(broker.send_message(topic=topic, body=BODY))
    expect(
        "REC-DISKFULL-003",
        found=lost,
        expected=sorted(lost),
        what="whether each is lost that was answered SUCCESS when there was no room",
    )


@pytest.mark.clause("REC-DISKFULL-002")
def test_with_space_again_messages_are_taken_again(
    start_target: TargetStarter, disk: SmallDisk
) -> None:
    target = start_target(SETTINGS, store=disk.path / "store")
    topic = create_topic(target, unique_name("full"), queue_count=1)
    early, _ = filled(target, disk, topic)
    disk.free()

    def is_taken() -> bool:
        try:
            with target.connect_to_broker() as broker:
                return bool(sent_until_refused(broker, topic, 1))
        except PeerError:
            return False

    what = "a message is taken again"
    wait_until(is_taken, what=what, timeout_s=SPACE_TIMEOUT_S)
    with target.connect_to_broker() as broker:
        lost = sum(lost_among(broker, early))
    expect("REC-DISKFULL-002", found=lost, expected=0, what="lost of those before")


@pytest.mark.clause("REC-DISKFULL-004")
def test_a_group_without_settings_pulls_while_the_disk_is_full(
    start_target: TargetStarter, disk: SmallDisk
) -> None:
    target = start_target(SETTINGS, store=disk.path / "store")
    topic = create_topic(target, unique_name("full"), queue_count=1)
    filled(target, disk, topic)
    with target.connect_to_broker() as broker:
        response = broker.pull(topic=topic, offset=0, group=unique_name("group"))
        expect_code(
            "REC-DISKFULL-004", response, ResponseCode.SUCCESS, broker.transcript
        )
    first = next((one.body for one in decode_records(response.body)), None)
    expect("REC-DISKFULL-004", found=first, expected=BODY, what="first body pulled")


@pytest.mark.clause("REC-DISKFULL-005")
def test_offsets_that_a_full_disk_refused_are_persisted_later(
    start_target: TargetStarter, disk: SmallDisk
) -> None:
    settings = {**SETTINGS, "flushConsumerOffsetInterval": str(PERIOD_MS)}
    target = start_target(settings, store=disk.path / "store")
    topic = create_topic(target, unique_name("full"), queue_count=1)
    groups = [unique_name("group").ljust(LONG_NAME, "g") for _ in range(GROUPS)]
    with target.connect_to_broker() as broker:
        for group in groups:
            require_success(broker.update_group(group=group))
    filled(target, disk, topic)
    with target.connect_to_broker() as broker:
        for group in groups:
            require_success(
                broker.update_offset(group=group, topic=topic, offset=COMMITTED)
            )
        time.sleep(FULL_S)  # the condition under test; what follows is polled
    assert target.store_path is not None
    path = StoreFiles(target.store_path).config(CONSUMER_OFFSETS_FILE)

    def is_persisted() -> bool:
        try:
            data = path.read_bytes()
            offsets = decode_consumer_offsets(data).offsets
        except (FileNotFoundError, LayoutError):  # also for a moment in a write
            return False
        return all(offsets.get((topic, one)) == {0: COMMITTED} for one in groups)

    assert not is_persisted(), "the disk was not full"
    disk.free()
    wait_until(is_persisted, what="all are persisted", timeout_s=SPACE_TIMEOUT_S)
