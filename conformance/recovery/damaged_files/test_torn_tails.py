"""The log's last records torn: cut at any byte, with anything behind the cut."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.target import Capability
from conformance.recovery.damaged_files.corruption import (
    GARBAGE,
    clear_log,
    clear_queue,
    corrupt_magic,
    log_file,
    overwrite_log,
)
from conformance.recovery.damaged_files.original import (
    FEW,
    Original,
    next_offset,
    send_small,
)
from conformance.recovery.queue_checks import check_ends, key_of, pulled
from spec.store.commit_log import PlacedRecord
from spec.store.message_record import encode_record
from spec.store.record_parts import EMPTY_SIZE, PART_OFFSETS

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

FILLINGS = {"zeros": b"", "garbage": GARBAGE}
"""Bytes in the place of a record, on a disk that lost power."""
PARTS = ("magic", "physical_offset", "body_size")
"""Parts of a record that are cut in the middle when not every byte is tested."""


def every_byte() -> bool:
    """Return whether this run has time for a start at every byte of a record."""
    return os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def last_records(original: Original, count: int) -> list[PlacedRecord]:
    """Return the log's last records."""
    return original.records[-count:]


def properties_at(placed: PlacedRecord) -> int:
    """Return the position of the properties in their record, in bytes."""
    return placed.size - len(placed.record.properties.encode())


def cuts(original: Original, filling: str) -> Iterator[tuple[PlacedRecord, int]]:
    """Yield records and the bytes of them before which they are cut."""
    if every_byte():
        for placed in last_records(original, 2):
            yield from ((placed, place) for place in range(placed.size))
        return
    placed = original.records[-1]
    properties = properties_at(placed)
    body_end = EMPTY_SIZE - 3 + len(placed.record.body)
    places = {body_end - 1, properties - 1, properties, placed.size - 1}
    if filling == "zeros":
        places |= {0, 1, *(PART_OFFSETS[part][0] + 1 for part in PARTS)}
    yield from ((placed, place) for place in sorted(places))


@pytest.mark.clause("REC-SCAN-001", "REC-SCAN-008", "REC-QUEUE-002", "REC-DISPATCH-005")
@pytest.mark.clause("REC-CRASH-002")
@pytest.mark.parametrize("filling", FILLINGS)
def test_a_record_cut_anywhere_ends_the_log(original: Original, filling: str) -> None:
    for placed, place in cuts(original, filling):
        files = original.restored(crashed=True)
        clear_log(files, placed.offset + place, FILLINGS[filling])
        # Other parts of a message than its body may be wrong: nothing checks them.
        is_kept = place >= properties_at(placed)
        end = placed.offset + placed.size * is_kept
        left = original.before(end, original.history.few)
        situation = f"{filling} from byte {place} of the record at {placed.offset} on"
        few = original.history.few
        with original.started() as broker:
            records = list(pulled(broker, few))
            check_ends(broker, (few, 0), records, situation=situation)
            clause = "REC-SCAN-008" if is_kept else "REC-QUEUE-002"
            expect(
                clause, found=len(records), expected=left, what=f"messages, {situation}"
            )
            found = next_offset(broker, few)
        expect(
            "REC-SCAN-001", found=found, expected=end, what=f"end of log, {situation}"
        )


@pytest.mark.clause("REC-SCAN-004", "REC-CRASH-001")
def test_an_old_record_behind_the_cut_is_not_delivered_again(
    original: Original,
) -> None:
    before, last = last_records(original, 2)
    assert before.size == last.size
    files = original.restored()
    overwrite_log(files, last.offset, encode_record(before.record))
    clear_queue(files, original.history.few, FEW - 1)
    with original.started() as broker:
        keys = [key_of(record) for record in pulled(broker, original.history.few)]
        found = next_offset(broker, original.history.few)
    expect("REC-SCAN-004", found=found, expected=original.end, what="end of the log")
    twice = sorted({key for key in keys if keys.count(key) > 1})
    expect("REC-CRASH-001", found=twice, expected=[], what="keys found twice")


@pytest.mark.clause("REC-TRUNCATE-003")
def test_what_was_cut_off_may_come_back(original: Original) -> None:
    need(original.target, Capability.KILL)
    before, last = last_records(original, 2)
    files = original.restored(crashed=True)
    corrupt_magic(files, before.offset)
    with original.started() as broker:
        path, place = log_file(files, last.offset)
        left = path.read_bytes()[place : place + last.size]
        stays = left == encode_record(last.record)
        if not stays:
            expect(
                "REC-TRUNCATE-003", found=left, expected=bytes(last.size), what="tail"
            )
        written = send_small(broker, original.history.few, FEW + 1)
    expect(
        "REC-TRUNCATE-003",
        found=written.commit_log_offset,
        expected=before.offset,
        what="where the next record went",
    )
    end = last.offset + last.size * stays
    found = original.end_after_start()
    expect(
        "REC-TRUNCATE-003", found=found, expected=end, what="end of log after a kill"
    )
