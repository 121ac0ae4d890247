"""Damages of the commit log: its last record, older ones, and its files."""

from __future__ import annotations

from pathlib import Path

from conformance.damages.damage import (
    Catalogue,
    StoreCopy,
    clear,
    cut,
    flip,
    patch,
    remove,
)
from spec.integers import INT32_MAX
from spec.store.commit_log import PlacedRecord

LOG = Catalogue()

MAGIC_AT, CRC_AT, PHYSICAL_OFFSET_AT, STORED_AT = 4, 8, 28, 56
BODY_AT = 88
GARBAGE = bytes(range(1, 121))
"""Bytes that are not a record: the first four are a size of 16 MB."""


def last(store: StoreCopy) -> tuple[Path, PlacedRecord]:
    """Return the file of the last record and that record."""
    return store.log_file(-1), store.records(-1)[-1]


def first_of(store: StoreCopy, number: int) -> tuple[Path, PlacedRecord]:
    """Return a file of the log and its first record."""
    return store.log_file(number), store.records(number)[0]


def topic_at(placed: PlacedRecord) -> int:
    """Return the position of the topic's length in the record's file."""
    return placed.offset + BODY_AT + len(placed.record.body)


@LOG.add(after_crash=True)
def nothing(store: StoreCopy) -> None:
    """Nothing was done to the store."""
    assert store.log_names()


@LOG.add(after_crash=True)
def last_torn_in_header(store: StoreCopy) -> None:
    """Keep the first ten bytes of the last record."""
    file, placed = last(store)
    clear(file, placed.offset + 10)


@LOG.add(after_crash=True)
def last_torn_in_body(store: StoreCopy) -> None:
    """Keep the last record up to the middle of its body."""
    file, placed = last(store)
    clear(file, placed.offset + BODY_AT + len(placed.record.body) // 2)


@LOG.add(after_crash=True)
def last_torn_in_properties(store: StoreCopy) -> None:
    """Drop the second half of the last record's properties."""
    file, placed = last(store)
    clear(file, placed.offset + placed.size - len(placed.record.properties) // 2)


@LOG.add()
def last_without_properties(store: StoreCopy) -> None:
    """Keep the last record up to its topic."""
    file, placed = last(store)
    clear(file, topic_at(placed) + 1 + len(placed.record.topic))


@LOG.add(after_crash=True)
def last_never_written(store: StoreCopy) -> None:
    """Set the last record to zeros; its queue and the index still refer to it."""
    file, placed = last(store)
    clear(file, placed.offset)


@LOG.add()
def last_three_never_written(store: StoreCopy) -> None:
    """Set the last three records to zeros; queues and index refer to them."""
    clear(store.log_file(-1), store.records(-1)[-3].offset)


@LOG.add()
def last_file_zeros(store: StoreCopy) -> None:
    """Set the log's last file to zeros; queues and index still refer to its records."""
    clear(store.log_file(-1), 0)


@LOG.add(after_crash=True)
def last_body_bit(store: StoreCopy) -> None:
    """A bit of the last record's body is wrong."""
    file, placed = last(store)
    flip(file, placed.offset + BODY_AT)


@LOG.add()
def last_checksum_bit(store: StoreCopy) -> None:
    """A bit of the last record's checksum is wrong."""
    file, placed = last(store)
    flip(file, placed.offset + CRC_AT + 3)


@LOG.add()
def last_magic(store: StoreCopy) -> None:
    """The last record's magic is wrong."""
    file, placed = last(store)
    patch(file, placed.offset + MAGIC_AT, b"\1\2\3\4")


@LOG.add()
def last_size_less(store: StoreCopy) -> None:
    """The last record's size is one too small."""
    file, placed = last(store)
    patch(file, placed.offset, (placed.size - 1).to_bytes(4, "big"))


@LOG.add()
def last_size_past_file(store: StoreCopy) -> None:
    """The last record's size is more than its file has left."""
    file, placed = last(store)
    patch(file, placed.offset, (10_000).to_bytes(4, "big"))


@LOG.add()
def last_size_largest(store: StoreCopy) -> None:
    """Set the last record's size to the largest value of four bytes."""
    file, placed = last(store)
    patch(file, placed.offset, INT32_MAX.to_bytes(4, "big"))


@LOG.add()
def last_size_negative(store: StoreCopy) -> None:
    """The last record's size is -1."""
    file, placed = last(store)
    patch(file, placed.offset, b"\xff" * 4)


@LOG.add()
def last_topic_size(store: StoreCopy) -> None:
    """The last record's topic length is one too large."""
    file, placed = last(store)
    size = len(placed.record.topic.encode()) + 1
    patch(file, topic_at(placed), bytes([size]))


@LOG.add(after_crash=True)
def last_physical_offset(store: StoreCopy) -> None:
    """Move the last record's physical offset eight bytes ahead."""
    file, placed = last(store)
    wrong = placed.record.physical_offset + 8
    patch(file, placed.offset + PHYSICAL_OFFSET_AT, wrong.to_bytes(8, "big"))


@LOG.add(after_crash=True)
def recent_body_bit(store: StoreCopy) -> None:
    """A bit of a body in the last but one file is wrong."""
    file = store.log_file(-2)
    flip(file, store.records(-2)[1].offset + BODY_AT)


@LOG.add(after_crash=True)
def middle_body_bit(store: StoreCopy) -> None:
    """A bit of a body in the last but three file is wrong."""
    file = store.log_file(-4)
    flip(file, store.records(-4)[1].offset + BODY_AT)


@LOG.add(after_crash=True)
def first_body_bit(store: StoreCopy) -> None:
    """A bit of the first record's body is wrong."""
    file, placed = first_of(store, 0)
    flip(file, placed.offset + BODY_AT)


@LOG.add(after_crash=True)
def recent_first_magic(store: StoreCopy) -> None:
    """The magic of the first record of the last but one file is wrong."""
    patch(store.log_file(-2), MAGIC_AT, b"\1\2\3\4")


@LOG.add(after_crash=True)
def middle_record_zeros(store: StoreCopy) -> None:
    """The second record of the last but one file is zeros."""
    placed = store.records(-2)[1]
    clear(store.log_file(-2), placed.offset, placed.offset + placed.size)


@LOG.add(after_stop=False, after_crash=True)
def third_last_file_without_time(store: StoreCopy) -> None:
    """The store time of the first record of the last but two file is 0."""
    patch(store.log_file(-3), STORED_AT, bytes(8))


@LOG.add()
def middle_properties_zeros(store: StoreCopy) -> None:
    """The properties of a record in the last but one file are zeros."""
    placed = store.records(-2)[1]
    begin = topic_at(placed) + 1 + len(placed.record.topic) + 2
    clear(store.log_file(-2), begin, placed.offset + placed.size)


@LOG.add(after_crash=True)
def blank_magic(store: StoreCopy) -> None:
    """The blank at the end of the last but one file has a wrong magic."""
    end = store.records(-2)[-1]
    patch(store.log_file(-2), end.offset + end.size + MAGIC_AT, b"\1\2\3\4")


@LOG.add(after_crash=True)
def blank_zeros(store: StoreCopy) -> None:
    """The blank at the end of the last but one file is zeros."""
    end = store.records(-2)[-1]
    clear(store.log_file(-2), end.offset + end.size)


@LOG.add(after_crash=True)
def garbage_after_end(store: StoreCopy) -> None:
    """Bytes that are no record follow the last one."""
    patch(store.log_file(-1), store.log_end(), GARBAGE)


@LOG.add(after_crash=True)
def stale_record_after_end(store: StoreCopy) -> None:
    """A record of another place follows the last one, as after an earlier cut."""
    placed = store.records(0)[1]
    data = store.log_file(0).read_bytes()[placed.offset :][: placed.size]
    patch(store.log_file(-1), store.log_end(), data)


@LOG.add(after_crash=True)
def last_file_missing(store: StoreCopy) -> None:
    """The log's last file is gone."""
    remove(store.log_file(-1))


@LOG.add(after_crash=True)
def recent_file_missing(store: StoreCopy) -> None:
    """The log's last but one file is gone."""
    remove(store.log_file(-2))


@LOG.add(after_crash=True)
def middle_file_missing(store: StoreCopy) -> None:
    """The log's third file is gone."""
    remove(store.log_file(2))


@LOG.add(after_crash=True)
def first_file_missing(store: StoreCopy) -> None:
    """The log's first file is gone, as retention would have it."""
    remove(store.log_file(0))


@LOG.add(after_crash=True)
def next_file_empty(store: StoreCopy) -> None:
    """A next file of the log is there, of no bytes."""
    store.after_log().touch()


@LOG.add(after_crash=True)
def next_file_zeros(store: StoreCopy) -> None:
    """A next file of the log is there, all zeros, as a broker allocates it."""
    store.after_log().write_bytes(bytes(store.log_file(-1).stat().st_size))


@LOG.add()
def last_file_short(store: StoreCopy) -> None:
    """The log's last file was cut after its last record."""
    cut(store.log_file(-1), store.log_end())


@LOG.add()
def middle_file_empty(store: StoreCopy) -> None:
    """The log's third file has no bytes."""
    cut(store.log_file(2), 0)


@LOG.add()
def file_of_another_place(store: StoreCopy) -> None:
    """The log's second file was copied over its third."""
    store.log_file(2).write_bytes(store.log_file(1).read_bytes())


@LOG.add()
def stray_file(store: StoreCopy) -> None:
    """A file that is no number lies among those of the log, of their size."""
    stray = store.log_file(-1).with_name("copy-of-the-log")
    stray.write_bytes(bytes(store.log_file(-1).stat().st_size))


@LOG.add(unsettled=("refusal.file",))
def stray_directory(store: StoreCopy) -> None:
    """A directory lies among the log's files; its size is the file system's affair."""
    store.log_file(-1).with_name("backup").mkdir()


@LOG.add()
def stray_note(store: StoreCopy) -> None:
    """A small file that is no number lies among those of the log."""
    store.log_file(-1).with_name("readme.txt").write_text("who put me here?\n")


@LOG.add(after_crash=True)
def no_log(store: StoreCopy) -> None:
    """The commit log has no files; queues and index are there."""
    for name in store.log_names():
        remove(store.path / "commitlog" / name)
