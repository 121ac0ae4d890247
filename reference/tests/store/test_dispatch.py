"""
One dispatch: requests of an append, and requests read from the log, have one result.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from reference.core.store.message_store import MessageStore
from reference.core.store.types import DispatchRequest, NewMessage, StoreOptions
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    contents,
    killed,
    message,
    started,
    wire_batch,
)

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
    lambda queue_id, bodies, properties: structs.replace(
        message("T", queue_id, wire_batch(*bodies, properties=properties.encode())),
        is_batch=True,
    ),
    st.integers(0, 1),
    st.lists(st.binary(max_size=3), min_size=1, max_size=4),
    PROPERTIES,
)
Steps = list[tuple[NewMessage, bool]]
STEPS = st.lists(
    st.tuples(st.one_of(MESSAGES, BATCHES), st.booleans()), min_size=2, max_size=20
)
"""Messages to append, each with whether a dispatch follows."""
UNIQUE = message(properties="UNIQ_KEY\x01u\x02")
KEYS = message(properties="KEYS\x01a b\x02")


def dispatch_from_log(store: MessageStore) -> list[DispatchRequest]:
    """Dispatch as after a restart: no request of an append is at hand."""
    store._undispatched.clear()
    return store.dispatch()


def dispatch_one_by_one(store: MessageStore) -> list[DispatchRequest]:
    """Dispatch every record as a sequence of one."""
    visible: list[DispatchRequest] = []
    requests, store._undispatched = store._undispatched, []
    for request in requests:
        if request.physical_offset == store.dispatcher.position:
            store.dispatcher.put((request,), visible)
    return visible + store.dispatch()


def queues_of(store: MessageStore) -> list[MappedFileQueue]:
    return [one for queue in store.queues for one in queue.mapped_file_queues]


@given(steps=STEPS, options=st.sampled_from([TINY, ROOMY]))
@example([(UNIQUE, False)] * 8, ROOMY)
@example([(KEYS, False)] * 8, TINY)
@example(
    [(message("T"), True), *[(message(t), False) for t in ("T", "thema-\u00e4", "T")]],
    ROOMY,
)
def test_every_source_of_requests_leaves_the_same_files(
    steps: Steps, options: StoreOptions
) -> None:
    files = [MemoryFiles(), MemoryFiles(), MemoryFiles()]
    stores = [started(one, options) for one in files]
    ways = (MessageStore.dispatch, dispatch_from_log, dispatch_one_by_one)
    for number, (new, dispatches) in enumerate([*steps, (steps[0][0], True)]):
        now_ms = NOON_MS + 700 * number
        results = [store.append([new], now_ms) for store in stores]
        assert results[1:] == results[:2]
        if dispatches:
            visible = [
                sorted(way(store), key=lambda one: one.physical_offset)
                for way, store in zip(ways, stores, strict=True)
            ]
            assert visible[1:] == visible[:2]
    assert contents(files[0]) == contents(files[1]) == contents(files[2])
    times = {store.checkpoint.logics_ms for store in stores}
    assert len(times) == 1
    ends = [{q.directory: q.end for q in queues_of(store)} for store in stores]
    assert ends[1:] == ends[:2]


@given(steps=STEPS, space=st.integers(0, 2500))
@example([(KEYS, False)] * 3, 44)
def test_nothing_is_visible_behind_a_unit_that_a_full_disk_refuses(
    steps: Steps, space: int
) -> None:
    files = [MemoryFiles(), MemoryFiles()]
    stores = [started(one, ROOMY) for one in files]
    for store in stores:
        store.append([steps[0][0]], NOON_MS)
        store.dispatch()
        store.append([new for new, _ in steps], NOON_MS)
    files[0].space = files[1].space = space
    stores[1]._undispatched.clear()
    for store in [*stores, *stores]:
        store.catch_up()
        for queue in store.queues:
            last = queue.unit(queue.max_offset - 1)
            assert last is None or last[0] <= store.dispatcher.position
    files[0].space = files[1].space = None
    for store in stores:
        store.catch_up()
        assert store.dispatcher.position == store.log.files.end
    units = [
        {name: data for name, data in contents(one).items() if "queue" in name}
        for one in files
    ]
    assert units[0] == units[1]
    # A key may be there twice, as in 4.6.0, but none is missing.
    for key in ("a", "b", "u"):
        found = [store.query("T", key, 64, 0, 2**62).records for store in stores]
        assert {bytes(one) for one in found[0]} == {bytes(one) for one in found[1]}


def test_a_sequence_becomes_visible_with_one_dispatch() -> None:
    store = started(options=ROOMY)
    store.append([UNIQUE] * 6, NOON_MS)
    assert [one.queue_offset for one in store.dispatch()] == [0, 1, 2, 3, 4, 5]
    assert store.dispatch() == []


def test_requests_of_a_killed_store_are_not_dispatched_by_the_next() -> None:
    files = MemoryFiles()
    store = started(files)
    store.append([message("T")], NOON_MS)
    again = killed(store, files)
    assert again.max_offset("T", 0) == 1
    assert again.dispatch() == []
