"""Delay levels: a message is due after the time that its consume-queue unit records."""

from __future__ import annotations

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.store.workload import delayed_message, send_all
from conformance.store.written_store import SMALL_FILES

pytestmark = pytest.mark.needs("store", "wire", "config")

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
MINUTE = 60
SECONDS = (
    *(1, 5, 10, 30),
    *(MINUTE * n for n in range(1, 11)),
    *(20 * MINUTE, 30 * MINUTE, 60 * MINUTE, 120 * MINUTE),
)


@pytest.mark.clause("DELAY-LEVEL-001", "DELAY-LEVEL-006")
def test_the_18_levels_are_due_after_these_times(start_target: TargetStarter) -> None:
    target = start_target(SMALL_FILES)
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    topic = create_topic(target, unique_name("levels"))
    levels = range(1, len(SECONDS) + 1)
    sent = send_all(target, [delayed_message(topic, level=n) for n in levels])
    wait_until(
        lambda: all(files.queue(SCHEDULE_TOPIC, level - 1).units() for level in levels),
        what="the messages of all levels have units",
    )
    due = {}
    for level, one in zip(levels, sent, strict=True):
        unit = files.queue(SCHEDULE_TOPIC, level - 1).units()[0]
        stored = {placed.offset: placed.record for placed in files.records()}
        record = stored[one.commit_log_offset]
        due[level] = (unit.tags_code - record.stored_at_ms) / 1000
    expect(
        "DELAY-LEVEL-006",
        found={level: seconds % 1 for level, seconds in due.items()},
        expected=dict.fromkeys(levels, 0.0),
        what="parts of a second between store time and due time, by level",
    )
    expect(
        "DELAY-LEVEL-001",
        found=due,
        expected={level: float(SECONDS[level - 1]) for level in levels},
        what="seconds from store time to due time, by level",
    )
