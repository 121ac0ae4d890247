"""Delay levels: a message is due after the time that its consume-queue unit records."""

from __future__ import annotations

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.pytest_plugin.known_settings import (
    may_change_running,
    need_defaults,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.store.workload import delayed_message, send_all
from conformance.store.written_store import SMALL_FILES
from spec.store.consume_queue import Unit
from spec.store.message_record import decode_record

pytestmark = pytest.mark.needs("store", "wire", "config")

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
MINUTE = 60
SECONDS = (
    *(1, 5, 10, 30),
    *(MINUTE * n for n in range(1, 11)),
    *(20 * MINUTE, 30 * MINUTE, 60 * MINUTE, 120 * MINUTE),
)


@pytest.fixture
def with_levels(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, target: Target
) -> Target:
    """Return a target of the suite's own, or a running one with the default levels."""
    if not may_change_running(pytestconfig, target):
        own = request.getfixturevalue("start_target")(SMALL_FILES)
        assert isinstance(own, Target)
        return own
    with target.connect_to_broker() as broker:
        settings = broker.broker_settings()
    need_defaults(target, {"messageDelayLevel": LEVELS}, settings)
    return target


@pytest.mark.restores
@pytest.mark.clause("DELAY-LEVEL-001", "DELAY-LEVEL-006")
def test_the_18_levels_are_due_after_these_times(with_levels: Target) -> None:
    target = with_levels
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    topic = create_topic(target, unique_name("levels"))
    levels = range(1, len(SECONDS) + 1)
    sent = send_all(target, [delayed_message(topic, level=n) for n in levels])
    offsets = dict(zip(levels, (one.commit_log_offset for one in sent), strict=True))

    def units() -> dict[int, Unit]:
        return {
            level: unit
            for level in levels
            for unit in files.queue(SCHEDULE_TOPIC, level - 1).units()
            if unit.commit_log_offset == offsets[level]
        }

    wait_until(
        lambda: len(units()) == len(levels),
        what="the messages of all levels have units",
    )
    with target.connect_for_admin() as client:
        records = {
            level: decode_record(client.view_message(commit_log_offset=offset).body)
            for level, offset in offsets.items()
        }
    due = {
        level: (unit.tags_code - records[level].stored_at_ms) / 1000
        for level, unit in units().items()
    }
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
