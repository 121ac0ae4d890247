"""
A store is the same whether what was put is dispatched at once or one by one.

What nobody tells dispatch, it reads, and takes one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store import dispatch
from reference.core.store.api import NewMessage, PutResult, StoreOptions
from reference.core.store.dispatch_at_once import take_at_once
from reference.core.store.file_queue import FileQueue
from reference.core.store.files import MemoryFiles
from reference.core.store.message_store import MessageStore
from reference.tests.store.making import NOON_MS, TINY, message, started, wire_batch
from reference.tests.store.test_told import contents

ROOMY = replace(
    TINY,
    commit_log_file_size=4096,
    consume_queue_file_size=20 * 50,
    index_item_count=200,
)
PROPERTIES = st.lists(
    st.sampled_from(["KEYS\x01a b\x02", "UNIQ_KEY\x01u\x02", "TAGS\x01t\x02"]),
    max_size=2,
).map("".join)
MESSAGES = st.builds(
    message,
    topic=st.sampled_from(["T", "U", "thema-\u00e4"]),
    queue_id=st.integers(0, 1),
    properties=PROPERTIES,
    system_flags=st.sampled_from([0, 0, 0, 0, 4, 12]),
)
BATCHES = st.builds(
    lambda queue_id, bodies, properties: message(
        "T", queue_id, wire_batch(*bodies, properties=properties.encode())
    ),
    st.integers(0, 1),
    st.lists(st.binary(max_size=3), min_size=1, max_size=4),
    PROPERTIES,
)
PUTS = st.one_of(
    MESSAGES.map(lambda new: (new, False)), BATCHES.map(lambda new: (new, True))
)
Rows = list[tuple[tuple[NewMessage, bool], bool]]
ROWS = st.lists(st.tuples(PUTS, st.booleans()), min_size=2, max_size=20)
"""What is put, whether it is a batch, and whether dispatch follows."""


@pytest.fixture(autouse=True, scope="module")
def few_are_taken_at_once() -> Iterator[None]:
    """Let also one record go the quick way, which many have to themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "AT_ONCE_FROM", 1)
        yield


def put(store: MessageStore, new: tuple[NewMessage, bool], now_ms: int) -> PutResult:
    """Put a message or a batch."""
    one, is_batch = new
    return (store.put_batch if is_batch else store.put)(one, now_ms)


@given(rows=ROWS, options=st.sampled_from([TINY, ROOMY]))
@example([((message(properties="UNIQ_KEY\x01u\x02"), False), False)] * 8, ROOMY)
@example([((message(properties="KEYS\x01a b\x02"), False), False)] * 8, TINY)
@example(
    [
        ((message("T"), False), True),
        *[((message(topic), False), False) for topic in ("T", "thema-\u00e4", "T")],
    ],
    ROOMY,
)
def test_at_once_is_one_by_one(rows: Rows, options: StoreOptions) -> None:
    once, one_by_one = MemoryFiles(), MemoryFiles()
    stores = started(once, options), started(one_by_one, options)
    for number, (new, dispatches) in enumerate([*rows, (rows[0][0], True)]):
        one, other = (put(store, new, NOON_MS + 700 * number) for store in stores)
        assert one == other
        if dispatches:
            seen = stores[0].dispatch()
            stores[1].log.fresh.clear()
            assert seen == stores[1].dispatch()
            assert not stores[0].log.fresh
    assert contents(once) == contents(one_by_one)
    assert stores[0].checkpoint.logics_ms == stores[1].checkpoint.logics_ms
    ends = [{q.directory: q.end for q in queues_of(store)} for store in stores]
    assert ends[0] == ends[1]


@given(rows=ROWS, space=st.integers(0, 2500))
@example([((message(properties="KEYS\x01a b\x02"), False), False)] * 3, 44)
def test_nothing_is_seen_behind_what_a_full_disk_refuses(
    rows: Rows, space: int
) -> None:
    once, one_by_one = MemoryFiles(), MemoryFiles()
    stores = started(once, ROOMY), started(one_by_one, ROOMY)
    for store in stores:
        put(store, rows[0][0], NOON_MS)
        store.dispatch()
        for new, _ in rows:
            put(store, new, NOON_MS)
    once.space = one_by_one.space = space
    stores[1].log.fresh.clear()
    for store in [*stores, *stores]:
        store.catch_up()
        for queue in store.queues:
            last = queue.unit(queue.max_offset - 1)
            assert last is None or last[0] <= store.dispatcher.position
    once.space = one_by_one.space = None
    for store in stores:
        store.catch_up()
        assert store.dispatcher.position == store.log.queue.end
    units = [
        {name: data for name, data in contents(files).items() if "queue" in name}
        for files in (once, one_by_one)
    ]
    assert units[0] == units[1]
    # A key may be there twice, as in 4.6.0, but none is missing.
    for key in ("a", "b", "u"):
        found = [store.query("T", key, 64, 0, 2**62).records for store in stores]
        assert {bytes(one) for one in found[0]} == {bytes(one) for one in found[1]}


def queues_of(store: MessageStore) -> list[FileQueue]:
    """Return the files of all consume queues."""
    return [one for queue in store.queues for one in queue.file_queues]


def test_alike_messages_are_taken_at_once() -> None:
    store = started(options=ROOMY)
    store.put(message(properties="UNIQ_KEY\x01u\x02"), NOON_MS)
    store.dispatch()
    for number in range(5):
        store.put(message(properties=f"UNIQ_KEY\x01u{number}\x02"), NOON_MS)
    run = list(store.log.fresh)
    arrivals = take_at_once(run, store.queues, store.index)
    assert arrivals is not None
    assert [one.end_offset for one in arrivals] == [2, 3, 4, 5, 6]
    assert take_at_once(run, store.queues, store.index) is None
