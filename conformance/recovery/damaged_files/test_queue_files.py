"""Damaged consume queues: invalid units, empty files, missing files."""

from __future__ import annotations

import os
import shutil

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.damaged_files.corruption import (
    clear_queue,
    corrupt_magic,
    overwrite_unit,
    queue_file,
    set_checkpoint,
)
from conformance.recovery.damaged_files.original import (
    COMMITTED,
    FEW,
    MANY,
    Original,
    must_send,
)
from conformance.recovery.queue_checks import check_ends, ends_of, key_of, pulled
from conformance.recovery.restart import starts
from conformance.recovery.small_files import LOG_FILE_SIZE, UNITS_PER_FILE
from spec.store.checkpoint import Checkpoint
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_units, encode_unit
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, file_name

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

NO_SIZE = Unit(commit_log_offset=0, size=0)
NEGATIVE = Unit(commit_log_offset=-1, size=100)
LAST_BUT_TWO = UNITS_PER_FILE + 10
"""A unit of the last but two of four files."""
FIRST_FILE = 20
"""A unit of the file before that."""


@pytest.mark.clause("REC-QUEUE-001")
@pytest.mark.parametrize(
    ("index", "unit", "expected"),
    [
        (LAST_BUT_TWO, NO_SIZE, LAST_BUT_TWO),
        (LAST_BUT_TWO, NEGATIVE, LAST_BUT_TWO),
        (FIRST_FILE, NO_SIZE, MANY),
    ],
)
def test_a_queue_ends_before_the_first_unit_that_is_none(
    original: Original, index: int, unit: Unit, expected: int
) -> None:
    files = original.restored()
    overwrite_unit(files, original.history.many, index, encode_unit(unit))
    with original.started() as broker:
        _, most = ends_of(broker, original.history.many)
    expect("REC-QUEUE-001", found=most, expected=expected, what="max offset")


def clear_last_file(original: Original, *, reaches_the_end: bool) -> int:
    """Make the last file of a queue empty; return the queue offset it begins at.

    Unless another queue *reaches the end* of the log, recovery cuts nothing off, not
    even an empty file.
    """
    files = original.restored()
    last = MANY // UNITS_PER_FILE * UNITS_PER_FILE
    clear_queue(files, original.history.many, last)
    if not reaches_the_end:
        clear_queue(files, original.history.few, FEW - 1)
    return last


def check_start_with_an_empty_last_file(original: Original, clause: str) -> None:
    """Check that the broker starts and that the queue still begins at 0."""
    clear_last_file(original, reaches_the_end=False)
    does = starts(original.target)
    expect(clause, found=does, expected=True, what="the broker starts")
    with original.target.connect_to_broker() as broker:
        least, _ = ends_of(broker, original.history.many)
    original.target.kill()
    expect(clause, found=least, expected=0, what="min offset")


@pytest.mark.clause("REC-QUEUE-003")
def test_a_last_file_without_units(original: Original) -> None:
    check_start_with_an_empty_last_file(original, "REC-QUEUE-003")


@pytest.mark.clause("REC-QUEUE-012")
def test_a_last_file_without_units_since_5_5(original: Original) -> None:
    check_start_with_an_empty_last_file(original, "REC-QUEUE-012")


@pytest.mark.clause("REC-QUEUE-004")
def test_a_last_file_without_units_may_count_as_one(original: Original) -> None:
    last = clear_last_file(original, reaches_the_end=True)
    with original.started() as broker:
        least, most = ends_of(broker, original.history.many)
    expect("REC-QUEUE-004", found=least, expected=0, what="min offset")
    expect_that(
        "REC-QUEUE-004",
        last <= most <= last + 1,
        found=most,
        expected=f"{last}, or one more",
        what="max offset",
    )


@pytest.mark.clause("REC-QUEUE-008")
def test_a_last_file_without_units_is_the_end_of_a_start(original: Original) -> None:
    clear_last_file(original, reaches_the_end=False)
    does = starts(original.target)
    original.target.kill()
    expect("REC-QUEUE-008", found=does, expected=False, what="the broker starts")


@pytest.mark.clause("REC-QUEUE-005", "REC-DISPATCH-004", "REC-DISPATCH-005")
def test_a_queue_that_is_cut_off_may_forget_its_place(original: Original) -> None:
    files = original.restored()
    many = original.history.many
    first = MANY // UNITS_PER_FILE * UNITS_PER_FILE
    end = original.history.of(many)[first].commit_log_offset
    leave_file_of(original, files, many, first)
    corrupt_magic(files, end)
    with original.started() as broker:
        group = original.history.group
        least, most = ends_of(broker, many)
        committed = require_success(broker.query_offset(group=group, topic=many))
        (new,) = must_send(broker, many, MANY, b"new")
    expect("REC-DISPATCH-005", found=least <= most, expected=True, what="min <= max")
    expect_that(
        "REC-QUEUE-005",
        most == 0 or most == first,
        found=most,
        expected=f"0 or {first}",
        what="max offset",
    )
    found = (new.queue_offset, new.commit_log_offset)
    expect("REC-DISPATCH-004", found=found, expected=(most, end), what="next message")
    kept = int(committed.fields["offset"])
    expect("REC-QUEUE-005", found=kept, expected=COMMITTED, what="the group's offset")


def leave_file_of(
    original: Original, files: StoreFiles, topic: str, index: int
) -> None:
    """Leave the log's file that has message *index*, and no older file of its queue."""
    offset = original.history.of(topic)[index].commit_log_offset
    for file in original.log:
        if not 0 <= offset - file.begin_offset < LOG_FILE_SIZE:
            (files.path / COMMIT_LOG / file.name).unlink()
    left, _ = queue_file(files, topic, index)
    for path in left.parent.iterdir():
        if path < left:
            path.unlink()


@pytest.mark.clause("REC-DISPATCH-003", "REC-CRASH-001", "REC-CRASH-002")
def test_after_a_crash_queues_are_filled_again(original: Original) -> None:
    files = original.restored(crashed=True)
    set_checkpoint(files, Checkpoint())
    many, few = original.history.many, original.history.few
    clear_queue(files, many, MANY // 2)
    shutil.rmtree(files.path / CONSUME_QUEUE / few)
    with original.started() as broker:
        found = {topic: list(pulled(broker, topic)) for topic in (many, few)}
        for topic, count in ((many, MANY), (few, FEW)):
            keys = [key_of(record) for record in found[topic]]
            sent = [one.key for one in original.history.of(topic)]
            what = f"keys in the queue of {count}"
            expect("REC-DISPATCH-003", found=keys, expected=sent, what=what)
            check_ends(broker, (topic, 0), found[topic])


@pytest.mark.clause("STORE-QUEUE-009", "REC-DISPATCH-005", "REC-CRASH-002")
def test_a_queue_begins_where_the_log_does(original: Original) -> None:
    files = original.restored(crashed=True)
    set_checkpoint(files, Checkpoint())
    shutil.rmtree(files.path / CONSUME_QUEUE)
    for file in original.log[:2]:
        (files.path / "commitlog" / file.name).unlink()
    many = original.history.many
    first = original.before(original.log[2].begin_offset)
    with original.started() as broker:
        found = ends_of(broker, many)
        check_ends(broker, (many, 0), list(pulled(broker, many, offset=first)))
    expect("STORE-QUEUE-009", found=found, expected=(first, MANY), what="offsets")
    path, place = queue_file(files, many, first)
    units = decode_units(path.read_bytes()[: place + UNIT_SIZE])
    fillers = [unit.is_filler for unit in units]
    expected = [True] * (place // UNIT_SIZE) + [False]
    expect("STORE-QUEUE-009", found=fillers, expected=expected, what="fillers")


@pytest.mark.clause("OFFSET-SEARCH-008")
@pytest.mark.parametrize(("more_ms", "expected"), [(0, 1), (1, 2), (25_000, 3)])
def test_a_search_looks_into_one_file(
    original: Original, more_ms: int, expected: int
) -> None:
    files = original.restored()
    begin_s = 1_600_000_000
    many = original.history.many
    for number in range(MANY // UNITS_PER_FILE + 1):
        name = file_name(number * UNITS_PER_FILE * UNIT_SIZE)
        path = files.path / CONSUME_QUEUE / many / "0" / name
        os.utime(path, (begin_s + 10 * number, begin_s + 10 * number))
    wanted = (begin_s + 10) * 1000 + more_ms
    with original.started() as broker:
        response = broker.search_offset(topic=many, timestamp_ms=wanted)
    found = int(require_success(response).fields["offset"])
    # All messages are younger, so it is the first of the file that is searched.
    at = expected * UNITS_PER_FILE
    expect("OFFSET-SEARCH-008", found=found, expected=at, what="offset")
