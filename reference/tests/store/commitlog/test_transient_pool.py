"""The transient store pool: what waits in it, what is lost with it, what is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.store.commitlog.transient_store_pool import TransientStorePool
from reference.core.store.message_store import MessageStore
from reference.core.store.types import PutStatus
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
)

POOLED = replace(TINY, pool_buffer_count=3)


def pool_of(store: MessageStore) -> TransientStorePool:
    """Return the pool of a store that has one."""
    assert store.log.pool is not None
    return store.log.pool


def test_what_waits_is_not_read_and_dies_with_the_process() -> None:
    files = MemoryFiles()
    store = started(files, POOLED)
    result = append_one(store, message(body=b"lost"), NOON_MS)
    assert result.status is PutStatus.PUT_OK
    assert store.dispatch() == []
    assert store.max_offset("T", 0) == 0
    assert store.record_at(result.physical_offset) is None
    store.commit_pool()
    assert [arrival.queue_offset for arrival in store.dispatch()] == [0]
    append_one(store, message(), NOON_MS)
    again = killed(store, files)
    assert [record.body for record in all_records(again, "T", 0)] == [b"lost"]


def test_a_clean_stop_keeps_what_waits() -> None:
    files = MemoryFiles()
    store = started(files, POOLED)
    append_one(store, message(), NOON_MS)
    store.stop()
    store = started(files, POOLED)
    assert store.max_offset("T", 0) == 1
    # The file was there at the start, so it has no buffer.
    result = append_one(store, message(), NOON_MS)
    assert store.record_at(result.physical_offset) is not None
    assert pool_of(store).free == 3


def test_a_refused_commit_keeps_what_waits() -> None:
    files = MemoryFiles(space=100)
    store = started(files, POOLED)
    assert append_one(store, message(), NOON_MS).is_stored
    files.space = 0
    store.commit_pool()
    assert store.last_error
    assert store.dispatch() == []
    files.space = None
    store.commit_pool()
    assert len(store.dispatch()) == 1


def test_the_checkpoint_does_not_vouch_for_what_waits() -> None:
    store = started(MemoryFiles(), POOLED)
    append_one(store, message(), NOON_MS)
    store.flush_log()
    assert store.checkpoint.physic_ms == 0
    store.commit_pool()
    append_one(store, message(), NOON_MS + 9)
    store.flush_log()
    assert store.checkpoint.physic_ms == 0
    store.commit_pool()
    store.flush_log()
    assert store.checkpoint.physic_ms == NOON_MS + 9


def test_the_written_file_and_the_next_have_a_buffer_each() -> None:
    free = []
    for size in (1, 2, 3):
        store = started(MemoryFiles(), replace(TINY, pool_buffer_count=size))
        assert not store.is_overloaded
        for _ in range(5):
            append_one(store, message(body=bytes(600)), NOON_MS)
        free.append(pool_of(store).free)
        assert store.is_overloaded is (size < 3)
    assert free == [0, 0, 1]


@given(
    steps=st.lists(st.none() | st.integers(0, 700), max_size=40),
    size=st.integers(0, 3),
    reopens=st.booleans(),
)
def test_with_and_without_a_pool_the_log_is_the_same(
    steps: list[int | None], size: int, reopens: bool
) -> None:
    logs = []
    for count in (0, size):
        files = MemoryFiles()
        store = started(files, replace(TINY, pool_buffer_count=count))
        for number, step in enumerate(steps):
            if step is None:
                store.commit_pool()
                store.dispatch()
            else:
                append_one(store, message(body=bytes(step)), NOON_MS + number)
            if reopens and number == len(steps) // 2:
                store.stop()
                store = started(files, store.options)
        store.stop()
        logs.append({path: bytes(file.bytes) for path, file in files.mapped.items()})
    assert logs[0] == logs[1]
