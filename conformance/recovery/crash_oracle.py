"""
What a broker must have after a start on what a power cut left, and how it is asked.

The broker is asked for its queues, and its files are read with the specification's
decoders. What was flushed before it was answered is owed; of the rest, a beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.store_files import StoreFiles
from conformance.harness.verdicts import expect, expect_that
from conformance.recovery.asking import (
    MOST_NAMED,
    check_ends,
    check_survivors,
    ends_of,
    found_by_key,
    pulled,
)
from conformance.recovery.crash_states import CrashState
from conformance.recovery.crashed import Crashed
from conformance.recovery.starting import REFUSES_EMPTY_FILES, starts
from spec.registry import all_clauses
from spec.store.commit_log import PlacedRecord, Stop, scan
from spec.store.file_names import COMMIT_LOG, offset_of


def check_start(crashed: Crashed, state: CrashState, *, seed: int) -> None:
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
        check_survivors(broker, owed, clause="REC-CUT-001", seed=seed)
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
    for path in sorted((files.path / COMMIT_LOG).iterdir()):
        found = scan(path.read_bytes(), offset_of(path.name))
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
