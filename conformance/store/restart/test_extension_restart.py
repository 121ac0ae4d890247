"""Extension files of consume queues over restarts: cut, lost, written again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.harness.blocked.skips import unsupported
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
from spec.store.message_record import decode_records
from spec.store.queue_extension import (
    EXTENSION,
    SMALLEST_SIZE,
    decode_extension_units,
    extension_address,
)

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "restart")]

SETTINGS = {
    "enableConsumeQueueExt": "true",
    "mappedFileSizeConsumeQueueExt": str(100 * SMALLEST_SIZE + 4),
}
COUNT = 6
TAGS = ("TagA", "TagB")


@pytest.fixture
def extended(start_target: TargetStarter) -> tuple[Target, str]:
    """Return a target that writes extensions, and a topic with messages of two tags."""
    target = start_target(SETTINGS)
    topic = create_topic(target, unique_name("extended"), queue_count=1)
    for number in range(COUNT):
        _send(target, topic, count=number + 1, tag=TAGS[number % 2])
    if not _file(target, topic).exists():
        unsupported("the target writes no extension of a consume queue")
    return target, topic


@pytest.mark.clause("STORE-EXTENSION-012")
def test_what_follows_the_last_unit_is_cut_at_a_start(
    extended: tuple[Target, str],
) -> None:
    target, topic = extended
    target.stop()
    data = bytearray(_file(target, topic).read_bytes())
    stray = data[:SMALLEST_SIZE] * 3
    data[COUNT * SMALLEST_SIZE : COUNT * SMALLEST_SIZE + len(stray)] = stray
    _file(target, topic).write_bytes(data)
    assert len(decode_extension_units(bytes(data))) == COUNT + 3, "three stray units"
    target.start()
    _expect_next(target, topic, clause="STORE-EXTENSION-012", count=COUNT)


@pytest.mark.needs("kill")
@pytest.mark.clause("STORE-EXTENSION-011")
def test_what_is_dispatched_again_has_another_unit(
    extended: tuple[Target, str],
) -> None:
    target, topic = extended
    target.kill()
    target.start()
    _expect_next(target, topic, clause="STORE-EXTENSION-011", count=2 * COUNT)


@pytest.mark.clause("STORE-EXTENSION-014")
def test_readers_get_messages_whose_extension_is_lost(
    extended: tuple[Target, str],
) -> None:
    target, topic = extended
    with target.connect_to_broker() as broker:
        response = broker.pull(topic=topic, offset=0, subscription=TAGS[0])
        before = len(list(decode_records(response.body)))
    assert before == COUNT // 2, "the extension says which messages have the tag"
    target.stop()
    shutil.rmtree(_file(target, topic).parent)
    target.start()
    with target.connect_to_broker() as broker:
        response = broker.pull(topic=topic, offset=0, subscription=TAGS[0])
        expect(
            "STORE-EXTENSION-014",
            found=[one.queue_offset for one in decode_records(response.body)],
            expected=list(range(COUNT)),
            what="queue offsets of messages that are given to a reader of one tag",
        )


def _expect_next(target: Target, topic: str, *, clause: str, count: int) -> None:
    """Fail *clause* unless the next message's unit comes behind *count* others."""
    _send(target, topic, count=COUNT + 1, tag=TAGS[0])
    assert target.store_path is not None
    units = StoreFiles(target.store_path).queue(topic, 0).units()
    expect(
        clause,
        found=units[COUNT].tags_code,
        expected=extension_address(count * SMALLEST_SIZE),
        what="tags code of the next message's unit",
    )


def _send(target: Target, topic: str, *, count: int, tag: str) -> None:
    """Send a message and wait until the queue has *count*, on disk, too."""
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    with target.connect_to_broker() as broker:
        require_success(broker.send_message(topic=topic, properties={"TAGS": tag}))
    wait_until(
        lambda: len(files.queue(topic, 0).units()) >= count,
        what=f"the queue's file has {count} units",
    )


def _file(target: Target, topic: str) -> Path:
    assert target.store_path is not None
    return target.store_path / EXTENSION / topic / "0" / f"{0:020}"
