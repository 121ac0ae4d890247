"""A start with vectorised recovery leaves the same store as one without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery.recover import BulkScan
from reference.core.store.types import NewMessage, StoreOptions
from reference.fast.recovery import bulk_scan
from reference.tests.memory_files import MemoryFiles
from reference.tests.start.damaged_stores import Harm as FileHarm
from reference.tests.start.damaged_stores import Put, corrupt, harms, puts, written
from reference.tests.store.small_stores import NOON_MS, TINY, append_one, message
from spec.host import Host
from spec.layout import LayoutError

V6 = Host.of("::1", 50000)
CORE, FAST = None, partial(bulk_scan, records_from=0)
SMALL = structs.replace(
    TINY,
    commit_log_file_size=16_384,
    consume_queue_file_size=20 * 20,
    index_slot_count=7,
    index_item_count=60,
    max_message_size=8192,
)
KINDS = (
    "",
    "UNIQ_KEY\x01{0:032X}\x02WAIT\x01true\x02",
    "KEYS\x01order-{0:06}\x02UNIQ_KEY\x01{0:032X}\x02WAIT\x01true\x02TAGS\x01t{1}\x02",
    "TAGS\x01t{1}\x02KEYS\x01a{0} b{0}  c\x02",
    "KEYS\x01k{0}\x02TAGS\x01\x02X\x01{0}\x01{1}\x02UNIQ_KEY\x01u{0}",
    "TAGS\x01a\x02XTAGS\x01{1}\x02TAGS\x01b{1}\x02KEYS\x01\u00e9{0}\x02",
    "UNIQ_KEY\x01{0}\x01\x01\x02NAME\x01\u4e2d{1}\x02\x02KEYS\x01 k{0} \x02",
)
"""Properties of message {0}, of which {1} is a digit."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Some messages of one kind."""

    topic: str
    queue_id: int
    kind: int
    count: int
    body_size: int
    flags: int
    is_v6: bool
    delay: int
    dispatches: bool
    later_ms: int


PLAIN = Burst(
    topic="A",
    queue_id=0,
    kind=1,
    count=9,
    body_size=30,
    flags=0,
    is_v6=False,
    delay=0,
    dispatches=True,
    later_ms=1,
)
bursts = st.builds(
    Burst,
    topic=st.sampled_from(("A", "B", "longer-\u00e9", "SCHEDULE_TOPIC_XXXX")),
    queue_id=st.integers(0, 1),
    kind=st.integers(0, len(KINDS) - 1),
    count=st.sampled_from((1, 2, 9, 20)),
    body_size=st.sampled_from((0, 1, 30, 200)),
    flags=st.sampled_from((0, 0, 0, 4, 8, 12)),
    is_v6=st.sampled_from((False, False, False, True)),
    delay=st.sampled_from((0, 0, 0, 0, 2)),
    dispatches=st.booleans(),
    later_ms=st.sampled_from((0, 1, 1500, 5000)),
)


class Harm(NamedTuple):
    """A change of one byte of a record, counted from its begin or its end."""

    record: int
    at: int
    change: int


records = st.integers(0, 100)
fields = st.sampled_from(
    [
        *((12, 0x80), (15, 1)),  # queue id
        *((20, 0x80), (21, 0x01), (27, 1)),  # queue offset
        *((28, 0x80), (34, 1), (35, 1)),  # physical offset
        *((39, 0x04), (39, 0x10)),  # system flags
        *((56, 0x80), (62, 0x20)),  # store time
    ]
)
log_harms = st.one_of(
    st.builds(lambda record, change: Harm(record, *change), records, fields),
    st.builds(Harm, records, st.integers(-80, 95), st.integers(1, 255)),
)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    row=st.lists(puts, min_size=1, max_size=16),
    stops=st.booleans(),
    harm=st.lists(harms, max_size=3),
)
def test_a_start_on_a_damaged_store_leaves_the_same(
    row: list[Put], stops: bool, harm: list[FileHarm]
) -> None:
    def made() -> MemoryFiles:
        files = written(row, stops=stops)
        corrupt(files, harm)
        return files

    assert left_by(made(), TINY, FAST) == left_by(made(), TINY, CORE)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    row=st.lists(bursts, min_size=1, max_size=6),
    harm=st.lists(log_harms, max_size=3),
    items=st.sampled_from((8, 60, 1000)),
    is_slave=st.booleans(),
)
def test_a_start_on_messages_of_many_kinds_leaves_the_same(
    row: list[Burst], harm: list[Harm], items: int, is_slave: bool
) -> None:
    options = structs.replace(SMALL, index_item_count=items, is_slave=is_slave)

    def made() -> MemoryFiles:
        files = filled(row, options)
        for one in harm:
            corrupt_log(files, one)
        return files

    assert left_by(made(), options, FAST) == left_by(made(), options, CORE)


def test_a_delay_level_that_is_no_number_ends_no_batch() -> None:
    def made() -> MemoryFiles:
        files = filled([PLAIN, replace(PLAIN, delay=2), PLAIN], SMALL)
        path, data = next((p, f.bytes) for p, f in files.mapped.items() if "log/" in p)
        at = data.index(b"DELAY\x012")
        assert path.startswith("commitlog/")
        data[at + 6 : at + 7] = b"x"
        return files

    left = left_by(made(), SMALL, FAST)
    assert left == left_by(made(), SMALL, CORE)
    offsets = left["offsets"]
    assert isinstance(offsets, dict)
    assert offsets["A", 0] == 2 * PLAIN.count


def filled(row: Iterable[Burst], options: StoreOptions) -> MemoryFiles:
    """Return the files of a store that was killed after the bursts of *row*."""
    files = MemoryFiles()
    store = MessageStore(files, options, NOON_MS)
    now_ms, number = NOON_MS, 0
    for burst in row:
        now_ms += burst.later_ms
        for _ in range(burst.count):
            number += 1
            append_one(store, made_of(burst, number), now_ms)
        if burst.dispatches:
            store.dispatch()
            store.flush_log()
            store.flush_queues()
    files.unlock()
    return files


def made_of(burst: Burst, number: int) -> NewMessage:
    """Return message *number*, one of *burst*."""
    properties = KINDS[burst.kind].format(number, number % 3)
    if burst.delay:
        properties = f"DELAY\x01{burst.delay}\x02{properties}"
    body = bytes([number % 256]) * burst.body_size
    made = message(burst.topic, burst.queue_id, body, properties, burst.flags)
    return structs.replace(made, born_host=V6) if burst.is_v6 else made


def corrupt_log(files: MemoryFiles, harm: Harm) -> None:
    """Do *harm* to the log."""
    places = list(records_of(files))
    data, begin, end = places[harm.record % len(places)]
    at = (begin if harm.at >= 0 else end) + harm.at
    data[at % len(data)] ^= harm.change


def records_of(files: MemoryFiles) -> Iterator[tuple[bytearray, int, int]]:
    """Yield the file of each record, and where the record begins and ends."""
    for path in sorted(files.mapped):
        data, at = files.mapped[path].bytes, 0
        while path.startswith("commitlog/") and any(data[at + 4 : at + 8]):
            size = max(int.from_bytes(data[at : at + 4], "big"), 1)
            yield data, at, min(at + size, len(data))
            at += size


def left_by(
    files: MemoryFiles, options: StoreOptions, bulk: BulkScan | None
) -> dict[str, object]:
    """Return all that a start leaves, in files and in memory."""
    try:
        store = MessageStore(files, options, NOON_MS + 60_000, bulk_scan=bulk)
    except (FilesError, LayoutError) as error:  # an invalid queue offset
        return {"refused": str(error)}
    found: dict[str, object] = {**files.texts}
    found |= {path: bytes(file.bytes) for path, file in files.mapped.items()}
    found["log"] = store.log.files.end, store.log.files.flushed
    found["offsets"] = store.log.next_queue_offsets
    checkpoint = store.checkpoint
    found["times"] = checkpoint.physic_ms, checkpoint.logics_ms, checkpoint.index_ms
    found["index"] = store.index.last_update
    for queue in store.queues:
        found[f"{queue.topic} {queue.queue_id}"] = (
            queue.max_physical_offset,
            queue.min_position,
            queue.files.end,
            queue.files.flushed,
        )
    return found
