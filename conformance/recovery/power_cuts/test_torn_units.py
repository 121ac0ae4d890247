"""
Losses of real releases in a power cut although messages were flushed in time.

A unit of 20 bytes may lie on two pages, of which one is on disk. The checkpoint may
cover units that are not on disk.
"""

from __future__ import annotations

import pytest

from conformance.harness.client.client import now_ms
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.power_cuts.crash_states import CrashState, named_states
from conformance.recovery.power_cuts.crashed_broker import (
    SETTINGS,
    TAG,
    UNITS_PER_FILE,
    Crashed,
    send,
)
from conformance.recovery.queue_checks import found_by_key, lost_of, queues_of
from spec.integers import tags_code
from spec.store.consume_queue import UNIT_SIZE, decode_unit
from spec.store.file_names import CONSUME_QUEUE
from spec.store.recovery.power_cut import PAGE_SIZE, SECTOR_SIZE
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.needs("store", "wire", "config", "kill")

TORN = PAGE_SIZE // UNIT_SIZE
"""The unit that lies on the first two pages."""
SPLIT = 4 * SECTOR_SIZE // UNIT_SIZE
"""The unit whose offset ends with the fourth sector."""


def unit_of(files: StoreFiles, topic: str, number: int) -> tuple[int, int, int]:
    """Return offset, size and tags code of a unit of a queue's first file."""
    assert number < UNITS_PER_FILE
    path = files.path / CONSUME_QUEUE / topic / "0" / ("0" * 20)
    begin = number * UNIT_SIZE
    unit = decode_unit(path.read_bytes()[begin : begin + UNIT_SIZE])
    return unit.commit_log_offset, unit.size, unit.tags_code


@pytest.mark.clause("REC-POWERCUT-004")
def test_a_torn_tags_code_may_hide_a_message(crashed: Crashed) -> None:
    description = "the second page of a queue is not there"
    states = {state.description: state for state in named_states(f"{crashed.many}/0")}
    files = crashed.left(states[description])
    torn = unit_of(files, crashed.many, TORN)
    whole = (*torn[:2], tags_code(TAG))
    assert torn[0] > 0
    assert torn != whole
    crashed.target.start()
    with crashed.serving() as broker:
        found = unit_of(files, crashed.many, TORN)
        response = broker.pull(
            topic=crashed.many, offset=TORN, subscription=TAG, max_count=1
        )
    kept, right = found == torn, found == whole
    what = f"unit {TORN} of the queue"
    expect_that(
        "REC-POWERCUT-004",
        kept or right,
        found=found,
        expected=f"{torn} or {whole}",
        what=what,
    )
    is_given = (
        response.code == ResponseCode.SUCCESS and (b"%05d" % TORN) in response.body
    )
    what = f"whether who asks for the tag gets message {TORN}"
    expect("REC-POWERCUT-004", found=is_given, expected=right, what=what)


@pytest.mark.clause("REC-POWERCUT-005")
def test_a_torn_offset_may_hand_out_another_message(crashed: Crashed) -> None:
    begin = SPLIT * UNIT_SIZE
    path = f"{CONSUME_QUEUE}/{crashed.many}/0/{'0' * 20}"
    torn = CrashState(
        description="a unit without its offset",
        change=lambda cut: cut.lose(cut.path / path, begin, begin + 8),
    )
    files = crashed.left(torn)
    _, size, _ = unit_of(files, crashed.many, SPLIT)
    assert begin + 8 == 4 * SECTOR_SIZE
    crashed.target.start()
    key = f"{crashed.many}-{SPLIT}"
    (offset,) = [one.commit_log_offset for one in crashed.owed if one.key == key]
    with crashed.serving() as broker:
        found = unit_of(files, crashed.many, SPLIT)
        response = broker.pull(topic=crashed.many, offset=SPLIT, max_count=1)
    expect_that(
        "REC-POWERCUT-005",
        found[0] in {0, offset} and found[1] == size,
        found=found,
        expected=f"0 or {offset}, and size {size}",
        what=f"unit {SPLIT} of the queue",
    )
    is_given = (b"%05d" % SPLIT) in response.body
    what = f"whether place {SPLIT} of the queue hands out its message"
    expect("REC-POWERCUT-005", found=is_given, expected=found[0] == offset, what=what)


EARLY, LATE = 24, 24
"""Messages of two moments that lie more than three seconds apart.

The early ones fill an index file and the log's first file, the late ones another index
file."""
APART_MS = 3_000 + 500
CHECKPOINT_SETTINGS = {
    **SETTINGS,
    "maxIndexNum": "20",
    "mapedFileSizeCommitLog": "8192",
}


@pytest.mark.clause("STORE-FLUSH-005")
def test_the_checkpoint_may_vouch_for_units_that_are_lost(
    start_target: TargetStarter,
) -> None:
    target = start_target(CHECKPOINT_SETTINGS)
    assert target.store_path is not None
    topic = create_topic(target, unique_name("ahead"))
    with target.connect_to_broker() as broker:
        owed = [one for n in range(EARLY) for one in send(broker, topic, n)]
        due_ms = now_ms() + APART_MS
        wait_until(lambda: now_ms() >= due_ms, what="the late messages are late")
        owed += [one for n in range(LATE) for one in send(broker, topic, EARLY + n)]
        broker.wait_for_max_offset(topic=topic, offset=len(owed))
        key = owed[-1].key
        wait_until(
            lambda: bool(found_by_key(broker, topic, key)), what=f"{key} is found"
        )
    files = StoreFiles(target.store_path)
    # A thread of its own flushes a full index file, and then the checkpoint.
    wait_until(
        lambda: files.checkpoint().index_ms >= due_ms,
        what="the checkpoint has the time of a late index file",
    )
    target.kill()
    checkpoint_ms = files.checkpoint().logics_ms
    for path in (files.path / CONSUME_QUEUE / topic / "0").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    target.start()
    with target.connect_to_broker() as broker:
        queues = queues_of(broker, [(topic, 0)])
    lost = len(lost_of(owed, queues))
    expect_that(
        "STORE-FLUSH-005",
        bool(lost) == (checkpoint_ms > 0),
        found=f"{lost} of {len(owed)} messages lost, second time {checkpoint_ms}",
        expected="messages are lost if the second time was not 0",
        what="no consume queue was ever flushed",
    )
