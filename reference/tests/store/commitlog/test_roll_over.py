"""
The boundary between two files of the commit log.
"""

from __future__ import annotations

import pytest

from reference.core.store.types import PutStatus
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_batch,
    append_one,
    killed,
    message,
    started,
    wire_batch,
)
from spec.store.blank import decode_blank
from spec.store.message_record import SMALLEST_SIZE

SIZE = TINY.commit_log_file_size
OVERHEAD = SMALLEST_SIZE + len("T")


def body_of_record(size: int) -> bytes:
    """Return a body whose record has *size* bytes."""
    return bytes(size - OVERHEAD)


@pytest.mark.parametrize("left", [200, 201, 207, 208, 209])
def test_a_record_leaves_eight_bytes_of_its_file(left: int) -> None:
    files = MemoryFiles()
    store = started(files)
    append_one(store, message(body=body_of_record(SIZE - left)), NOON_MS)
    result = append_one(store, message(body=body_of_record(200)), NOON_MS)
    if left >= 208:
        assert result.physical_offset == SIZE - left
    else:
        assert result.physical_offset == SIZE
        first = files.mapped[f"commitlog/{0:020}"].view
        assert decode_blank(first[SIZE - left :]).size == left


def test_a_batch_stays_in_one_file() -> None:
    store = started()
    append_one(store, message(body=body_of_record(600)), NOON_MS)
    batch = message(body=wire_batch(*(bytes(40) for _ in range(4))))
    result = append_batch(store, batch, NOON_MS)
    assert result.physical_offset == SIZE
    assert result.queue_offset == 1
    assert list(result.record_offsets) == [SIZE + 132 * n for n in range(4)]


def test_files_are_named_by_their_first_offset_and_have_their_full_size() -> None:
    files = MemoryFiles()
    store = started(files)
    for _ in range(4):
        append_one(store, message(body=body_of_record(600)), NOON_MS)
    assert files.names("commitlog") == [f"{SIZE * n:020}" for n in range(4)]
    assert {files.size(f"commitlog/{name}") for name in files.names("commitlog")} == {
        SIZE
    }


def test_a_message_that_fits_no_file_is_refused_and_nothing_is_written() -> None:
    store = started()
    assert append_one(store, message(body=bytes(899)), NOON_MS).status is (
        PutStatus.MESSAGE_ILLEGAL
    )
    assert store.log.files.end == 0


def test_a_log_that_ends_with_a_blank_goes_on_before_it() -> None:
    # 4.6.0 does not count the blank of the last file as written.
    files = MemoryFiles()
    store = started(files)
    append_one(store, message(body=body_of_record(900)), NOON_MS)
    append_one(store, message(body=body_of_record(200)), NOON_MS)
    files.delete(f"commitlog/{SIZE:020}")
    store = killed(store, files)
    assert store.log.files.end == 900
    result = append_one(store, message(body=body_of_record(110)), NOON_MS)
    assert result.physical_offset == 900


def test_queue_files_roll_over_too() -> None:
    files = MemoryFiles()
    store = started(files)
    for number in range(7):
        append_one(store, message(body=b"%d" % number), NOON_MS)
    store.dispatch()
    assert files.names("consumequeue/T/0") == [f"{n:020}" for n in (0, 60, 120)]
    bodies = [record.body for record in all_records(store, "T", 0)]
    assert bodies == [b"%d" % number for number in range(7)]
