"""Records whose queue offsets no queue can have: one clear error, and no long work."""

from __future__ import annotations

import pytest

from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    append_one,
    message,
    started,
)
from spec.derive.numpy_dtype import leading_fields
from spec.integers import INT64_MAX, INT64_MIN
from spec.store.message_record import record_layout

AT = {f.name: f.offset for f in leading_fields(record_layout, system_flags=0)}
IMPOSSIBLE = (-1, -3_000_000, INT64_MIN, INT64_MAX // 20, INT64_MAX)


def hostile(queue_offset: int, *, before: int = 0) -> MemoryFiles:
    """Return a killed store whose last record has this queue offset.

    Its queue has the messages *before*.
    """
    files = MemoryFiles()
    store = started(files)
    for _ in range(before):
        append_one(store, message(), NOON_MS)
    store.dispatch()
    last = append_one(store, message(), NOON_MS)
    files.unlock()
    log = files.mapped["commitlog/" + "0" * 20].bytes
    begin = last.physical_offset + AT["queue_offset"]
    log[begin : begin + 8] = queue_offset.to_bytes(8, "big", signed=True)
    return files


def files_of_queue(files: MemoryFiles) -> list[str]:
    """Return the names of the queue's files."""
    return files.names("consumequeue/T/0")


@pytest.mark.parametrize("queue_offset", IMPOSSIBLE)
def test_a_queue_that_cannot_begin_so_is_one_clear_error(queue_offset: int) -> None:
    files = hostile(queue_offset)
    place = f"queue offset {queue_offset} of the record at 0 of the log"
    message_text = f"consumequeue/T/0 has no place for {place}"
    with pytest.raises(FilesError, match=f"^{message_text}$"):
        MessageStore(files, TINY, NOON_MS)
    assert files_of_queue(files) == []


@pytest.mark.parametrize("queue_offset", IMPOSSIBLE)
def test_a_queue_that_is_there_goes_on_or_passes_it_over(queue_offset: int) -> None:
    files = hostile(queue_offset, before=1)
    store = MessageStore(files, TINY, NOON_MS)
    assert store.max_offset("T", 0) == (2 if queue_offset > 0 else 1)
    assert len(files_of_queue(files)) == 1


def test_a_queue_that_begins_far_out_is_filled_within_its_file_only() -> None:
    files = hostile(2**56 + 2)
    store = MessageStore(files, TINY, NOON_MS)
    assert store.max_offset("T", 0) == 2**56 + 3
    assert store.min_offset("T", 0) == 2**56 + 2
    assert (
        [len(one.bytes) for one in files.mapped.values()].count(
            TINY.consume_queue_file_size
        )
        == len(files_of_queue(files))
        == 1
    )
