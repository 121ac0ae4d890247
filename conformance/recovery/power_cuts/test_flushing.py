"""Bytes on the disk when a broker responds, and its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import TooLateError, comes_true
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.recovery.power_cuts.dirty_pages import (
    dirty_kb,
    need_to_see_dirty_pages,
)
from conformance.recovery.small_files import SMALL_FILES
from spec.store.file_names import COMMIT_LOG
from spec.wire.message.properties import Property

pytestmark = [pytest.mark.long, pytest.mark.needs("wire", "store", "config", "kill")]

NEVER_MS = "3600000"
COUNT = 30
ATTEMPTS, ATTEMPT_S = 4, 10.0
ALL_S = ATTEMPTS * ATTEMPT_S
BODY = bytes(2000)
LOG_STAYS_DIRTY = {
    "flushDiskType": "ASYNC_FLUSH",
    "flushCommitLogTimed": "true",
    "flushIntervalCommitLog": NEVER_MS,
    "flushCommitLogThoroughInterval": NEVER_MS,
}


def started(
    start_target: TargetStarter, settings: Mapping[str, str]
) -> tuple[Target, str, StoreFiles]:
    """Return a target whose pages can be seen, a topic of its, and its files."""
    target = start_target({**SMALL_FILES, **settings})
    assert target.store_path is not None
    topic = create_topic(target, unique_name("flush"), queue_count=1)
    send(target, topic, 1)
    need_to_see_dirty_pages(target.store_path / COMMIT_LOG)
    return target, topic, StoreFiles(target.store_path)


def send(target: Target, topic: str, count: int) -> None:
    """Send messages, each of which is acknowledged."""
    with target.connect_to_broker() as broker:
        for _ in range(count):
            properties: dict[str, str] = {Property.KEYS: unique_name("key")}
            require_success(
                broker.send_message(topic=topic, body=BODY, properties=properties)
            )


def last_stored_ms(files: StoreFiles) -> int:
    """Return when the log's last record was stored."""
    return files.records()[-1].record.stored_at_ms


def has_flushed(files: StoreFiles, time_ms: int) -> bool:
    """Return whether the checkpoint has *time_ms* as the time of flushed units."""
    return files.checkpoint().logics_ms >= time_ms


def last_flushed_ms(target: Target, topic: str, files: StoreFiles) -> int:
    """Send until the checkpoint has the time of the last unit, and return that time.

    A flush that began before the last unit writes an older time after it. Apache keeps
    this time until the next message (Java: FlushConsumeQueueService#doFlush).
    """
    for _ in range(ATTEMPTS):
        send(target, topic, COUNT)
        last_ms = last_stored_ms(files)
        if comes_true(partial(has_flushed, files, last_ms), ATTEMPT_S):
            return last_ms
    raise TooLateError("the checkpoint has the time of the last unit", ALL_S)


@pytest.mark.clause("STORE-FLUSH-001")
def test_what_is_answered_is_on_disk(start_target: TargetStarter) -> None:
    # 4.6.0 does not return SUCCESS for the first message of a file, which is on disk.
    settings = {"flushDiskType": "SYNC_FLUSH", "mapedFileSizeCommitLog": str(2**20)}
    target, topic, files = started(start_target, settings)
    with target.connect_to_broker() as broker:
        for _ in range(COUNT):
            require_success(broker.send_message(topic=topic, body=BODY))
            found = dirty_kb(files.path / COMMIT_LOG)
            expect("STORE-FLUSH-001", found=found, expected=0, what="KiB not on disk")


@pytest.mark.clause("REC-POWERCUT-006")
def test_nobody_waits_for_the_disk_otherwise(start_target: TargetStarter) -> None:
    target, topic, files = started(start_target, LOG_STAYS_DIRTY)
    send(target, topic, COUNT)
    found = dirty_kb(files.path / COMMIT_LOG)
    expect_that(
        "REC-POWERCUT-006",
        found > 0,
        found=found,
        expected="some, for it was not asked to flush",
        what="KiB of the log not on disk",
    )


@pytest.mark.clause("STORE-FLUSH-004")
def test_the_checkpoint_does_not_pass_what_is_not_flushed(
    start_target: TargetStarter,
) -> None:
    settings = {
        **LOG_STAYS_DIRTY,
        "flushIntervalConsumeQueue": "100",
        "flushConsumeQueueThoroughInterval": "300",
    }
    target, topic, files = started(start_target, settings)
    last_ms = last_flushed_ms(target, topic, files)
    dirty, physic_ms = dirty_kb(files.path / COMMIT_LOG), files.checkpoint().physic_ms
    expect_that(
        "STORE-FLUSH-004",
        physic_ms < last_ms or not dirty,
        found=physic_ms,
        expected=f"less than {last_ms}, of the last record, for {dirty} KiB are dirty",
        what="the checkpoint's first time",
    )
