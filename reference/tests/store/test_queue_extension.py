"""
Extensions of consume queues: what a queue's units point at, over crashes and deletions.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.store.cleaning import HOUR_MS, Retention
from reference.core.store.consumequeue.extension import QueueExtension
from reference.core.store.get_message import MessageFilter
from reference.core.store.message_store import MessageStore
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
from spec.integers import tags_code
from spec.store.queue_extension import (
    END_SIZE,
    EXTENSION,
    SMALLEST_SIZE,
    ExtensionUnit,
    decode_extension_units,
    offset_of_address,
)

FILE_SIZE = 3 * SMALLEST_SIZE + END_SIZE
EXTENDED = replace(TINY, extension_file_size=FILE_SIZE)
TAGS = ("a", "b")


def filled(files: MemoryFiles, count: int = 8) -> MessageStore:
    """Return a store with *count* messages, of two tags in turn."""
    store = started(files, EXTENDED)
    for number in range(count):
        properties = f"TAGS\x01{TAGS[number % 2]}\x02"
        append_one(store, message(body=bytes(90), properties=properties), NOON_MS)
    store.dispatch()
    return store


def offsets_of_tag(store: MessageStore, tag: str) -> list[int]:
    """Return the queue offsets that a reader of one tag gets."""
    found: list[int] = []
    offset = store.min_offset("T", 0)
    while offset < store.max_offset("T", 0):
        response = store.get("T", 0, offset, 32, MessageFilter({tags_code(tag)}))
        found += [int.from_bytes(record[20:28], "big") for record in response.records]
        offset = response.next_begin_offset
    return found


@given(sizes=st.lists(st.integers(0, FILE_SIZE), max_size=12))
def test_units_are_found_where_they_were_put(sizes: list[int]) -> None:
    extension = QueueExtension(MemoryFiles(), "T", 0, FILE_SIZE)
    expected: list[tuple[int, ExtensionUnit]] = []
    end = 0
    for number, size in enumerate(sizes):
        unit = ExtensionUnit(
            tags_code=number, stored_at_ms=number, filter_bits=bytes(size)
        )
        address = extension.put(unit)
        room = FILE_SIZE - end % FILE_SIZE - END_SIZE
        if SMALLEST_SIZE + size > FILE_SIZE - END_SIZE:
            assert address == number, "a unit that fits no file is not put"
            continue
        if SMALLEST_SIZE + size > room:
            end += FILE_SIZE - end % FILE_SIZE
        assert offset_of_address(address) == end
        end += SMALLEST_SIZE + size
        expected.append((address, unit))
    assert [extension.get(address) for address, _ in expected] == [
        unit for _, unit in expected
    ]


def test_readers_of_a_tag_look_into_the_extension() -> None:
    assert offsets_of_tag(filled(MemoryFiles()), "b") == [1, 3, 5, 7]


def test_a_lost_extension_filters_nothing() -> None:
    files = MemoryFiles()
    filled(files).stop()
    for path in [path for path in files.mapped if path.startswith(EXTENSION)]:
        files.delete(path)
    assert offsets_of_tag(started(files, EXTENDED), "b") == list(range(8))


def test_a_crash_leaves_units_that_nothing_points_at() -> None:
    files = MemoryFiles()
    again = killed(filled(files), files)
    assert offsets_of_tag(again, "b") == [1, 3, 5, 7]
    queue = again.queues.table.get(("T", 0))
    assert queue is not None
    assert queue.extension is not None
    # Eight units are two full files and two thirds of one; eight more follow.
    assert queue.extension.files.end == 5 * FILE_SIZE + SMALLEST_SIZE


def test_a_clean_start_cuts_what_the_queue_does_not_know() -> None:
    files = MemoryFiles()
    store = filled(files)
    queue = store.queues.table.get(("T", 0))
    assert queue is not None
    assert queue.extension is not None
    end = queue.extension.files.end
    queue.extension.put(ExtensionUnit(stored_at_ms=1))
    queue.extension.put(ExtensionUnit(stored_at_ms=2))
    store.stop()
    again = started(files, EXTENDED).queues.table.get(("T", 0))
    assert again is not None
    assert again.extension is not None
    assert again.extension.files.end == end


def test_extension_files_go_with_the_first_messages() -> None:
    files = MemoryFiles()
    files.now_ms = NOON_MS
    store = filled(files, 60)
    retention = Retention(reserved_ms=0, hours=frozenset(range(24)))
    for _ in store.clean_service.delete_expired_files(retention, NOON_MS + HOUR_MS):
        pass
    least = store.min_offset("T", 0)
    assert least > 0
    first = files.names(f"{EXTENSION}/T/0")[0]
    # A file that ends where the first unit begins is not before it.
    assert int(first) == (least - 1) // 3 * FILE_SIZE
    assert len(all_records(store, "T", 0)) == 60 - least


def test_a_deleted_topic_takes_its_extension_along() -> None:
    files = MemoryFiles()
    store = filled(files)
    store.clean_service.delete_unused_topics([])
    assert files.names(f"{EXTENSION}/T/0") == []


def test_a_crash_makes_bits_for_what_is_dispatched_again() -> None:
    files = MemoryFiles()
    filled(files)
    files.unlock()
    again = MessageStore(
        files,
        EXTENDED,
        NOON_MS,
        calc_bit_map=lambda topic, record: topic.encode() + bytes(record[20:28]),
    )
    queue = again.queues.table.get(("T", 0))
    assert queue is not None
    assert queue.extension is not None
    data = queue.extension.files.view(queue.extension.files.start_offsets[-1])
    assert data is not None
    last = list(decode_extension_units(data).values())[-1]
    assert last.filter_bits == b"T" + (7).to_bytes(8, "big")
