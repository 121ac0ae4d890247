"""
Requirements for a broker that starts on the files left by a power cut.

The checks pull the broker's queues and read its files with the specification's
decoders. Messages flushed before their response must exist; of the rest, a beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.power_cuts.crash_states import CrashState
from conformance.recovery.power_cuts.crashed_broker import Crashed
from conformance.recovery.queue_checks import (
    MOST_NAMED,
    check_ends,
    check_survivors,
    ends_of,
    found_by_key,
    pulled,
)
from conformance.recovery.restart import REFUSES_EMPTY_FILES, starts
from spec.registry import all_clauses
from spec.store.commit_log import PlacedRecord, Stop, scan
from spec.store.file_names import COMMIT_LOG, offset_of


def check_start(crashed: Crashed, state: CrashState, *, seed: int) -> None:
    """Start on *state* and check the store and the queues."""
    files = crashed.left(state)
    refuses = all_clauses()[REFUSES_EMPTY_FILES].applies_to(crashed.target.release)
    if not starts(crashed.target):
        expect_that(
            "REC-POWERCUT-001",
            state.is_refused and refuses,
            found="the broker does not start",
            expected="that it starts",
            what=state.description,
        )
        return
    with crashed.serving() as broker:
        owed = list(crashed.owed)
        check_survivors(broker, owed, clause="REC-POWERCUT-001", seed=seed)
        check_tail(broker, crashed, state)
        check_agreement(broker, files, crashed, state)
        check_next(broker, crashed)
        check_keys(broker, crashed, state)


def check_tail(broker: Client, crashed: Crashed, state: CrashState) -> None:
    """Check that the messages of the tail that exist are its beginning."""
    begin = crashed.tail[0].queue_offset
    records = list(pulled(broker, crashed.few))
    found = [record.body for record in records if record.queue_offset >= begin]
    expected = [one.body for one in crashed.tail[: len(found)]]
    what = f"bodies behind the flushed messages: {state.description}"
    expect("REC-POWERCUT-003", found=found, expected=expected, what=what)
    check_ends(broker, (crashed.few, 0), records, situation=state.description)


def believed(files: StoreFiles) -> Iterator[PlacedRecord]:
    """Yield the records up to the first bytes that are not a record."""
    for path in sorted((files.path / COMMIT_LOG).iterdir()):
        found = scan(path.read_bytes(), offset_of(path.name))
        yield from found.records
        if found.stop is not Stop.BLANK:
            return


def check_agreement(
    broker: Client, files: StoreFiles, crashed: Crashed, state: CrashState
) -> None:
    """Check in the files whether every record has its unit, and no other.

    Behind the max offset of the broker, old units may be left.
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
        what = f"units without record or records without unit: {state.description}"
        expect("REC-POWERCUT-001", found=odd, expected=[], what=what)
        expect("REC-POWERCUT-001", found=found, expected=wanted, what="units in order")


def check_keys(broker: Client, crashed: Crashed, state: CrashState) -> None:
    """Check whether every fifth message, and the last, is found by its key.

    The index has 100 slots: the keys of so many messages share some, so that a broken
    chain hides at least one of them.
    """
    owed = crashed.owed
    samples = (*owed[::5], owed[-1])
    missing = [
        one.key
        for one in samples
        if one.key not in found_by_key(broker, one.topic, one.key)
    ]
    what = f"keys that find no message: {state.description}"
    expect("REC-POWERCUT-002", found=missing[:MOST_NAMED], expected=[], what=what)


def check_next(broker: Client, crashed: Crashed) -> None:
    """Check the place of the next message of each queue."""
    for topic in (crashed.many, crashed.few):
        _, most = ends_of(broker, topic)
        response = require_success(broker.send_message(topic=topic))
        found = int(response.fields["queueOffset"])
        expect("REC-DISPATCH-004", found=found, expected=most, what="queueOffset")
