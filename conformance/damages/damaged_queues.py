"""Damages of consume queues, of the index and of the checkpoint."""

from __future__ import annotations

import shutil

from conformance.damages.base_store import BILLS, ORDERS
from conformance.damages.damage import (
    Catalogue,
    StoreCopy,
    clear,
    cut,
    cut_back,
    names_in,
    patch,
    remove,
    write_unit,
)
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_units
from spec.store.file_names import CONSUME_QUEUE, INDEX, offset_of
from spec.wire.message.topic_names import SCHEDULE_TOPIC

QUEUES, INDEXES, CHECKPOINTS = Catalogue(), Catalogue(), Catalogue()


@QUEUES.add(after_crash=True)
def queue_missing(store: StoreCopy) -> None:
    """One consume queue is gone."""
    remove(store.queue(ORDERS, 1))


@QUEUES.add(after_crash=True)
def queues_missing(store: StoreCopy) -> None:
    """The whole directory of consume queues is gone."""
    remove(store.path / CONSUME_QUEUE)


@QUEUES.add(after_crash=True)
def queue_last_file_missing(store: StoreCopy) -> None:
    """The last file of a consume queue is gone."""
    remove(store.queue_file(ORDERS, 0, -1))


@QUEUES.add(after_crash=True)
def queue_middle_file_missing(store: StoreCopy) -> None:
    """The last but one file of a consume queue is gone."""
    remove(store.queue_file(ORDERS, 0, -2))


@QUEUES.add()
def queue_first_file_missing(store: StoreCopy) -> None:
    """The first file of a consume queue is gone."""
    remove(store.queue_file(ORDERS, 0, 0))


@QUEUES.add()
def queue_file_short(store: StoreCopy) -> None:
    """The last file of a consume queue has three units' bytes only."""
    cut(store.queue_file(ORDERS, 0, -1), 3 * UNIT_SIZE)


@QUEUES.add()
def queue_file_empty(store: StoreCopy) -> None:
    """The last file of a consume queue has no bytes."""
    cut(store.queue_file(ORDERS, 0, -1), 0)


@QUEUES.add()
def queue_last_file_zeros(store: StoreCopy) -> None:
    """The last file of a consume queue is all zeros."""
    clear(store.queue_file(ORDERS, 0, -1), 0)


@QUEUES.add(after_crash=True)
def queue_cut_back(store: StoreCopy) -> None:
    """One consume queue lacks its last three units; others are ahead of it."""
    cut_back(store.queue(ORDERS, 0), 3)


@QUEUES.add(after_crash=True)
def idle_queue_cut_back(store: StoreCopy) -> None:
    """A queue that got nothing of late lacks its last two units."""
    cut_back(store.queue(BILLS, 0), 2)


@QUEUES.add(after_crash=True)
def all_queues_cut_back(store: StoreCopy) -> None:
    """Every queue of the busy topic lacks its last three units."""
    cut_back(store.queue(ORDERS, 0), 3)
    cut_back(store.queue(ORDERS, 1), 3)


@QUEUES.add()
def holes_in_two_topics(store: StoreCopy) -> None:
    """One topic's queue lacks a file in the middle, another's its last units."""
    remove(store.queue_file(ORDERS, 1, 2))
    cut_back(store.queue(BILLS, 0), 1)


@QUEUES.add(after_crash=True)
def unit_beyond_log(store: StoreCopy) -> None:
    """A queue has a unit more, which points behind the end of the log."""
    file = store.queue_file(ORDERS, 1, -1)
    written = len(decode_units(file.read_bytes()))
    end = offset_of(store.log_names()[-1]) + store.log_end()
    assert written * UNIT_SIZE < file.stat().st_size, "the queue's last file is full"
    write_unit(file, written, Unit(commit_log_offset=end + 100, size=200))


@QUEUES.add()
def old_unit_beyond_log(store: StoreCopy) -> None:
    """A unit in a queue's second file points behind the end of the log."""
    file = store.queue_file(ORDERS, 0, 1)
    end = offset_of(store.log_names()[-1]) + store.log_end()
    write_unit(file, 2, Unit(commit_log_offset=end + 8192, size=200))


@QUEUES.add(after_crash=True)
def unit_negative(store: StoreCopy) -> None:
    """A unit in a queue's last but one file has a negative offset."""
    write_unit(store.queue_file(ORDERS, 0, -2), 2, Unit(commit_log_offset=-1, size=100))


@QUEUES.add()
def unit_without_size(store: StoreCopy) -> None:
    """A unit in a queue's last but one file has the size 0."""
    patch(store.queue_file(ORDERS, 0, -2), 2 * UNIT_SIZE + 8, bytes(4))


@QUEUES.add()
def old_unit_without_size(store: StoreCopy) -> None:
    """A unit in a queue's second file, older than the last three, has the size 0."""
    patch(store.queue_file(ORDERS, 0, 1), 2 * UNIT_SIZE + 8, bytes(4))


@QUEUES.add(after_crash=True)
def unit_twice(store: StoreCopy) -> None:
    """A queue has its last unit twice, as if its message had been sent again."""
    file = store.queue_file(ORDERS, 1, -1)
    units = decode_units(file.read_bytes())
    write_unit(file, len(units), units[-1])


@QUEUES.add()
def units_swapped(store: StoreCopy) -> None:
    """The first two units of a queue's last file changed places."""
    file = store.queue_file(ORDERS, 0, -1)
    first, second, *_ = decode_units(file.read_bytes())
    write_unit(file, 0, second)
    write_unit(file, 1, first)


@QUEUES.add()
def queue_directory_stray(store: StoreCopy) -> None:
    """A directory that is no number lies among a topic's queues."""
    store.queue(ORDERS, 0).with_name("copy-of-0").mkdir()


@QUEUES.add()
def queue_stray_name(store: StoreCopy) -> None:
    """A file that is no number lies among those of a queue, of their size."""
    file = store.queue_file(ORDERS, 0, -1)
    shutil.copyfile(file, file.with_name("copy"))


@QUEUES.add()
def delay_queue_missing(store: StoreCopy) -> None:
    """The consume queues of delayed messages are gone."""
    remove(store.path / CONSUME_QUEUE / SCHEDULE_TOPIC)


@INDEXES.add(after_crash=True)
def index_missing(store: StoreCopy) -> None:
    """The index has no files."""
    for name in names_in(store.path / INDEX):
        remove(store.path / INDEX / name)


@INDEXES.add()
def index_last_missing(store: StoreCopy) -> None:
    """The last index file is gone."""
    remove(store.index_file(-1))


@INDEXES.add(after_crash=True)
def index_short(store: StoreCopy) -> None:
    """The last index file lost its last 100 bytes."""
    file = store.index_file(-1)
    cut(file, file.stat().st_size - 100)


@INDEXES.add()
def index_empty(store: StoreCopy) -> None:
    """The last index file has no bytes."""
    cut(store.index_file(-1), 0)


@INDEXES.add()
def index_stray_name(store: StoreCopy) -> None:
    """A file that is no number lies among those of the index, of their size."""
    file = store.index_file(-1)
    shutil.copyfile(file, file.with_name("copy"))


@CHECKPOINTS.add(after_crash=True)
def checkpoint_missing(store: StoreCopy) -> None:
    """There is no checkpoint."""
    remove(store.checkpoint)


@CHECKPOINTS.add(after_crash=True)
def checkpoint_empty(store: StoreCopy) -> None:
    """The checkpoint has no bytes."""
    cut(store.checkpoint, 0)


@CHECKPOINTS.add(after_stop=False, after_crash=True)
def checkpoint_zero(store: StoreCopy) -> None:
    """The checkpoint's times are 0."""
    store.write_checkpoint()


@CHECKPOINTS.add(after_stop=False, after_crash=True)
def checkpoint_ahead(store: StoreCopy) -> None:
    """The checkpoint's times are an hour later than the last record."""
    store.move_checkpoint(physic_ms=3_600_000)


@CHECKPOINTS.add(after_stop=False, after_crash=True)
def checkpoint_behind(store: StoreCopy) -> None:
    """The checkpoint's times are three seconds before what they were."""
    store.move_checkpoint(physic_ms=-3000)


@CHECKPOINTS.add(after_stop=False, after_crash=True)
def checkpoint_of_index_behind(store: StoreCopy) -> None:
    """The checkpoint's time of the index is five seconds before what it was."""
    store.move_checkpoint(physic_ms=0, index_ms=-5000)


@CHECKPOINTS.add(after_stop=False, after_crash=True)
def checkpoint_behind_and_a_bit(store: StoreCopy) -> None:
    """After an old checkpoint a bit in the last but one file is wrong."""
    store.move_checkpoint(physic_ms=-3000)
    patch(store.log_file(-2), store.records(-2)[1].offset + 88, b"?")
