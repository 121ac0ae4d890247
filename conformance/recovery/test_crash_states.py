"""
Starting on what a power cut may leave: named states, and a sample of all others.

``CRASH_STATES`` says how many are drawn, ``CRASH_SEED`` which; ``tox -e crashes`` takes
more than a plain run does.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import (
    OPTIONS,
    TargetStarter,
    create_topic,
    need,
    unique_name,
)
from conformance.harness.speaker import Speaker, now_ms, succeeded
from conformance.harness.store_files import StoreFiles
from conformance.harness.target import Capability, Target, parse_target
from conformance.harness.verdicts import expect, expect_that
from conformance.recovery.asking import (
    MOST_NAMED,
    check_ends,
    check_survivors,
    ends_of,
    found_by_key,
    lost_of,
    pulled,
    queues_of,
)
from conformance.recovery.crash_states import CrashState, drawn_states, named_states
from conformance.recovery.crashed import (
    SETTINGS,
    TAG,
    UNITS_PER_FILE,
    Crashed,
    crash,
    send,
)
from conformance.recovery.starting import REFUSES_EMPTY_FILES, starts
from spec.integers import tags_code
from spec.registry import all_clauses
from spec.store.checkpoint import SAFETY_MS
from spec.store.commit_log import PlacedRecord, Stop, scan
from spec.store.consume_queue import UNIT_SIZE, decode_unit
from spec.store.file_names import CONSUME_QUEUE
from spec.store.power_cut import PAGE_SIZE, SECTOR_SIZE
from spec.wire.response_code import ResponseCode

pytestmark = pytest.mark.needs("store", "wire", "config", "kill")

SEED = int(os.environ.get("CRASH_SEED", "0")) or random.SystemRandom().randrange(2**31)
DRAWN = int(os.environ.get("CRASH_STATES", "3"))
FIRST = "*many*/0"
NAMES = [state.says for state in named_states(FIRST)]


@pytest.fixture(scope="session")
def crashed(
    pytestconfig: pytest.Config,
    target: Target,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Crashed]:
    """Yield a killed broker and its store."""
    need(target, Capability.WIRE, Capability.CONFIG, Capability.STORE, Capability.KILL)
    options = pytestconfig.stash[OPTIONS]
    directory: Path = tmp_path_factory.mktemp("crashed")
    with parse_target(options.target, profile=options.profile, conf=SETTINGS) as own:
        yield crash(own, directory)


def survive(crashed: Crashed, state: CrashState) -> None:
    """Start on *state* and judge what is there."""
    files = crashed.left(state)
    refuses = all_clauses()[REFUSES_EMPTY_FILES].applies_to(crashed.target.release)
    if not starts(crashed.target):
        expect_that(
            "REC-CUT-001",
            state.is_refused and refuses,
            found="the broker does not start",
            expected="that it starts",
            what=state.says,
        )
        return
    with crashed.serving() as broker:
        owed = list(crashed.owed)
        check_survivors(broker, owed, clause="REC-CUT-001", seed=SEED)
        check_tail(broker, crashed, state)
        check_agreement(broker, files, crashed, state)
        check_next(broker, crashed)
        check_keys(broker, crashed, state)


def check_tail(broker: Speaker, crashed: Crashed, state: CrashState) -> None:
    """Judge that what is there of the tail is its beginning."""
    begin = crashed.tail[0].queue_offset
    records = list(pulled(broker, crashed.few))
    found = [record.body for record in records if record.queue_offset >= begin]
    expected = [one.body for one in crashed.tail[: len(found)]]
    what = f"bodies behind the flushed messages: {state.says}"
    expect("REC-CUT-003", found=found, expected=expected, what=what)
    check_ends(broker, (crashed.few, 0), records, said=state.says)


def believed(files: StoreFiles) -> Iterator[PlacedRecord]:
    """Yield the records up to the first thing that is none."""
    for file in files.log_files():
        found = scan(file.data, file.begin_offset)
        yield from found.records
        if found.stop is not Stop.BLANK:
            return


def check_agreement(
    broker: Speaker, files: StoreFiles, crashed: Crashed, state: CrashState
) -> None:
    """Judge in the files whether every record has its unit, and no other.

    Behind the end that the broker names, old units may be left.
    """
    records = list(believed(files))
    for topic in (crashed.many, crashed.few):
        _, most = ends_of(broker, topic)
        units = files.queue(topic, 0).units()[:most]
        found = [(unit.commit_log_offset, unit.size) for unit in units]
        wanted = [
            (placed.offset, placed.size)
            for placed in records
            if placed.record.topic == topic
        ]
        odd = sorted({*found} ^ {*wanted})[:MOST_NAMED]
        what = f"units without record or records without unit: {state.says}"
        expect("REC-CUT-001", found=odd, expected=[], what=what)
        expect("REC-CUT-001", found=found, expected=wanted, what="units in order")


def check_keys(broker: Speaker, crashed: Crashed, state: CrashState) -> None:
    """Judge whether some of the messages are found by their keys."""
    owed = crashed.owed
    asked = (owed[0], owed[len(owed) // 2], owed[-1])
    missing = [
        one.key
        for one in asked
        if one.key not in found_by_key(broker, one.topic, one.key)
    ]
    what = f"keys that find no message: {state.says}"
    expect("REC-CUT-002", found=missing, expected=[], what=what)


def check_next(broker: Speaker, crashed: Crashed) -> None:
    """Judge where the next message of each queue goes."""
    for topic in (crashed.many, crashed.few):
        _, most = ends_of(broker, topic)
        answer = succeeded(broker.send_message(topic=topic))
        found = int(answer.fields["queueOffset"])
        expect("REC-DISPATCH-004", found=found, expected=most, what="queueOffset")


@pytest.mark.clause("REC-CUT-001", "REC-CUT-002", "REC-CUT-003", "REC-DISPATCH-005")
@pytest.mark.clause("REC-KEEP-001", "REC-KEEP-002")
@pytest.mark.clause("REC-DISPATCH-004")
@pytest.mark.parametrize("name", NAMES)
def test_a_named_state_loses_nothing_that_was_flushed(
    crashed: Crashed, name: str
) -> None:
    states = {state.says: state for state in named_states(f"{crashed.many}/0")}
    survive(crashed, states[name])


@pytest.mark.clause("REC-CUT-001", "REC-CUT-002", "REC-CUT-003", "REC-DISPATCH-005")
@pytest.mark.clause("REC-KEEP-001", "REC-KEEP-002")
@pytest.mark.parametrize("number", range(DRAWN))
def test_a_drawn_state_loses_nothing_that_was_flushed(
    crashed: Crashed, number: int
) -> None:
    survive(crashed, list(drawn_states(SEED, number + 1))[number])


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


@pytest.mark.clause("REC-CUT-004")
def test_a_torn_tags_code_may_hide_a_message(crashed: Crashed) -> None:
    says = "the second page of a queue is not there"
    states = {state.says: state for state in named_states(f"{crashed.many}/0")}
    files = crashed.left(states[says])
    torn = unit_of(files, crashed.many, TORN)
    whole = (*torn[:2], tags_code(TAG))
    assert torn[0] > 0
    assert torn != whole
    crashed.target.start()
    with crashed.serving() as broker:
        found = unit_of(files, crashed.many, TORN)
        answer = broker.pull(
            topic=crashed.many, offset=TORN, subscription=TAG, max_count=1
        )
    kept, right = found == torn, found == whole
    what = f"unit {TORN} of the queue"
    expect_that(
        "REC-CUT-004",
        kept or right,
        found=found,
        expected=f"{torn} or {whole}",
        what=what,
    )
    is_given = answer.code == ResponseCode.SUCCESS and (b"%05d" % TORN) in answer.body
    what = f"whether who asks for the tag gets message {TORN}"
    expect("REC-CUT-004", found=is_given, expected=right, what=what)


@pytest.mark.clause("REC-CUT-005")
def test_a_torn_offset_may_hand_out_another_message(crashed: Crashed) -> None:
    begin = SPLIT * UNIT_SIZE
    path = f"{CONSUME_QUEUE}/{crashed.many}/0/{'0' * 20}"
    torn = CrashState(
        says="a unit without its offset",
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
        answer = broker.pull(topic=crashed.many, offset=SPLIT, max_count=1)
    expect_that(
        "REC-CUT-005",
        found[0] in {0, offset} and found[1] == size,
        found=found,
        expected=f"0 or {offset}, and size {size}",
        what=f"unit {SPLIT} of the queue",
    )
    is_given = (b"%05d" % SPLIT) in answer.body
    what = f"whether place {SPLIT} of the queue hands out its message"
    expect("REC-CUT-005", found=is_given, expected=found[0] == offset, what=what)


EARLY, LATE = 24, 24
"""Messages of two moments that lie more than three seconds apart; the early ones fill
an index file and the log's first file, the late ones another index file."""
APART_MS = SAFETY_MS + 500
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
    with target.speak_to_broker() as broker:
        owed = [one for n in range(EARLY) for one in send(broker, topic, n)]
        due_ms = now_ms() + APART_MS
        wait_until(lambda: now_ms() >= due_ms, what="the late messages are late")
        owed += [one for n in range(LATE) for one in send(broker, topic, EARLY + n)]
        broker.wait_for_max_offset(topic=topic, offset=len(owed))
        key = owed[-1].key
        wait_until(
            lambda: bool(found_by_key(broker, topic, key)), what=f"{key} is found"
        )
    target.kill()
    files = StoreFiles(target.store_path)
    vouched_ms = files.checkpoint().logics_ms
    for path in (files.path / CONSUME_QUEUE / topic / "0").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    target.start()
    with target.speak_to_broker() as broker:
        queues = queues_of(broker, [(topic, 0)])
    lost = len(lost_of(owed, queues))
    expect_that(
        "STORE-FLUSH-005",
        bool(lost) == (vouched_ms > 0),
        found=f"{lost} of {len(owed)} messages lost, second time {vouched_ms}",
        expected="messages are lost if the second time was not 0",
        what="no consume queue was ever flushed",
    )
