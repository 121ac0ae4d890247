"""
Dispatch of many records in one step: units by queue, index items by file.

The result is that of ``Dispatcher.put`` for each record. Irregular records, and those
with which a new index file begins, are put by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, Ints, dtype_of
from columns.log_batch import LogBatch
from columns.topics import Topics
from reference.core.store.index.index_file import IndexFile
from reference.core.store.recovery.recover import StoreParts
from reference.fast.requests import Requests, requests_of
from spec.derive.numpy_dtype import leading_fields
from spec.integers import INT32_MAX
from spec.store.consume_queue import unit_layout
from spec.store.index_file import HEADER_SIZE, SLOT_SIZE, item_layout, slot_layout

_unit = dtype_of(unit_layout)
_item = dtype_of(item_layout)
_slot = np.dtype(leading_fields(slot_layout)[0].format)


class BulkDispatcher:
    """Puts batches of records into consume queues and index."""

    def __init__(self, parts: StoreParts, run_from: int) -> None:
        self._log = parts.log
        self._queues = parts.queues
        self._index = parts.index if parts.options.index_enabled else None
        self._checkpoint = parts.checkpoint
        self._dispatcher = parts.dispatcher
        self._run_from = max(run_from, 1)

    def put(self, batch: LogBatch, topics: Topics) -> None:
        """Put all records of *batch*, in order."""
        requests = requests_of(batch, topics)
        begin, count = 0, len(batch.starts)
        for stop in [*np.flatnonzero(~requests.is_regular).tolist(), count]:
            self._put_regular(requests, begin, stop)
            if stop < count:
                self._put_one(int(requests.physical_offset[stop]))
            begin = stop + 1

    def _put_regular(self, requests: Requests, begin: int, stop: int) -> None:
        """Put the records *begin* to *stop*, all of them regular."""
        while begin < stop:
            count = self._count_for_index_file(requests, begin, stop)
            if count < self._run_from:
                count = max(count, 1)
                for offset in requests.physical_offset[begin : begin + count].tolist():
                    self._put_one(offset)
            else:
                self._put_units(requests, slice(begin, begin + count))
                self._put_keys(requests, begin, begin + count)
            begin += count

    def _count_for_index_file(self, requests: Requests, begin: int, stop: int) -> int:
        """Return the number of records before the index begins another file."""
        if self._index is None:
            return stop - begin
        file = self._index.newest
        if file is None or file.room <= 0:
            return 0
        if file.next_item <= 1:  # core puts the first key, with which the file begins
            keys_before = requests.first_key[begin + 1 : stop + 1]
            no_key = requests.first_key[begin]
            return int(np.searchsorted(keys_before, no_key, side="right"))
        first_key = self._first_new_key(requests, begin, stop)
        key_counts = requests.first_key[begin + 1 : stop + 1] - first_key
        count = int(np.searchsorted(key_counts, file.room))
        is_filled = count < len(key_counts) and key_counts[count] == file.room
        return count + is_filled

    def _first_new_key(self, requests: Requests, begin: int, stop: int) -> int:
        """Return the index of the first key that the index does not contain yet."""
        assert self._index is not None
        _, end_offset = self._index.last_update
        offsets = requests.physical_offset[begin:stop]
        return int(requests.first_key[begin + np.searchsorted(offsets, end_offset)])

    def _put_one(self, offset: int) -> None:
        found = self._log.read_dispatch_request(offset)
        if found is not None:
            self._dispatcher.put((found,), [])

    def _put_keys(self, requests: Requests, begin: int, stop: int) -> None:
        """Put the new keys of the records *begin* to *stop*; their file has room."""
        file = self._index.newest if self._index is not None else None
        if file is None:
            return
        first = self._first_new_key(requests, begin, stop)
        end = requests.first_key[stop]
        if first >= end:
            return
        key_count = np.diff(requests.first_key)
        record = np.repeat(np.arange(len(key_count)), key_count)[first:end]
        add_items(
            file,
            requests.hashes[first:end],
            requests.physical_offset[record],
            requests.stored_at_ms[record],
        )

    def _put_units(self, requests: Requests, run: slice) -> None:
        records = np.arange(run.start, run.stop)[requests.is_consumable[run]]
        if not len(records):
            return
        self._checkpoint.logics_ms = int(requests.stored_at_ms[records[-1]])
        queue = requests.topic[records] << 32 | requests.queue_id[records]
        records = records[np.argsort(queue, kind="stable")]
        units = _units(requests, records)
        for begin, end in _consecutive(requests, records):
            first = records[begin]
            topic, queue_id = requests.topics[requests.topic[first]], requests.queue_id
            key = topic, int(queue_id[first])
            found = self._queues.table.get(key) or self._queues.create(*key)
            if found is not None:
                index = int(requests.queue_offset[first])
                found.put(index, units[begin:end].tobytes())


def _units(requests: Requests, records: Ints) -> npt.NDArray[Any]:
    units = np.empty(len(records), _unit)
    units["commit_log_offset"] = requests.physical_offset[records]
    units["size"] = requests.size[records]
    units["tags_code"] = requests.tags_code[records]
    return units


def _consecutive(requests: Requests, records: Ints) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of *records* that are consecutive in one queue."""
    is_next = np.ones(max(len(records) - 1, 0), np.bool_)
    for column, step in (
        (requests.topic, 0),
        (requests.queue_id, 0),
        (requests.queue_offset, 1),
    ):
        is_next &= np.diff(column[records]) == step
    breaks = (np.flatnonzero(~is_next) + 1).tolist()
    yield from zip([0, *breaks], [*breaks, len(records)], strict=True)


def add_items(
    file: IndexFile, hashes: Ints, physical_offsets: Ints, stored_at_ms: Ints
) -> None:
    """Add the next items of *file*: one key at least, offsets rising."""
    numbers = np.arange(file.next_item, file.next_item + len(hashes))
    slots = hashes % file.slot_count  # [INDEX-SLOT-001]
    before = np.frombuffer(file.view, _slot, file.slot_count, HEADER_SIZE)[slots]
    previous, is_newest = _chained(before.astype(np.int64), slots, numbers)
    items = np.zeros(len(numbers), _item)
    items["key_hash"] = hashes
    items["commit_log_offset"] = physical_offsets
    items["seconds"] = _seconds(file.begin_ms, stored_at_ms)
    items["previous_item"] = previous
    file.add(
        items=items.tobytes(),
        item_count=len(items),
        slot_words=numbers[is_newest].astype(_slot).tobytes(),
        slot_places=(HEADER_SIZE + slots[is_newest] * SLOT_SIZE).tolist(),
        end_ms=int(stored_at_ms[-1]),
        end_offset=int(physical_offsets[-1]),
    )


def _chained(before: Ints, slots: Ints, numbers: Ints) -> tuple[Ints, Bools]:
    """Return the previous item of each item, and which items are the last of a slot.

    *before* holds the numbers that the slots have now.
    """
    previous = np.where((before > 0) & (before <= numbers), before, 0)
    order = np.argsort(slots, kind="stable")
    shared = np.flatnonzero(slots[order][1:] == slots[order][:-1])
    # [INDEX-ITEM-002]
    previous[order[shared + 1]] = numbers[order[shared]]
    is_newest = np.ones(len(slots), np.bool_)
    is_newest[order[shared]] = False
    return previous, is_newest


def _seconds(begin_ms: int, stored_at_ms: Ints) -> Ints:
    """Return the seconds since *begin_ms*, the begin of the file."""
    if begin_ms <= 0:
        return np.zeros_like(stored_at_ms)
    # [INDEX-ITEM-003]
    return np.clip((stored_at_ms - begin_ms) // 1000, 0, INT32_MAX)
