"""
Dispatch of many records at once, for starts on large stores.

This is the quick twin of ``Dispatcher.take``, which takes what is not usual: a record
that says it stands elsewhere, and those at which the index begins another file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reference.core.store.checkpoint import CheckpointFile
from reference.core.store.index import Index
from reference.core.store.index_rows import KeyRow
from reference.core.store.queue_table import QueueTable
from reference.core.store.record_runs import Flags, Ints, Run
from reference.core.store.records import NOT_CONSUMABLE, TRANSACTION_MASK, Found
from reference.core.store.run_words import Known, Words, words_of
from spec.derive.numpy_dtype import leading_fields
from spec.store.consume_queue import unit_layout

_unit = np.dtype([(field.name, field.format) for field in leading_fields(unit_layout)])
_INDEX_MAX = 2**40
"""No queue has so many messages."""
_FAR = 2**62
"""Numbers from here on are not counted with."""


class _Row(NamedTuple):
    """Records in the order of the log, as equally long columns."""

    physical_offset: Ints
    size: Ints
    topic: Ints
    queue_id: Ints
    queue_offset: Ints
    tags_code: Ints
    stored_at_ms: Ints
    is_consumable: Flags
    key_count: Ints
    """Of the keys that the index is to have."""
    key_end: Ints
    """How many keys the records up to this one have, with its own."""

    def only(self, which: slice | Ints | Flags) -> _Row:
        """Return the records that *which* chooses."""
        return _Row._make(column[which] for column in self)


class RunDispatcher:
    """Puts runs of records into queues and index."""

    def __init__(
        self,
        find: Callable[[int], object],
        take: Callable[[Found], object],
        *,
        queues: QueueTable,
        index: Index | None,
        checkpoint: CheckpointFile,
        is_copy: bool,
        least: int,
    ) -> None:
        self._find = find
        """Reads the record at an offset of the log."""
        self._take = take
        """Dispatches one record."""
        self._queues = queues
        self._index = index
        self._checkpoint = checkpoint
        self._is_copy = is_copy
        self._least = least
        """Fewer records are dispatched one by one."""
        self._known = Known()
        self._indexed_until = 0
        """What stands before this is in the index, as was known before the run."""

    def take(self, base: int, data: memoryview, run: Run) -> None:
        """Dispatch *run*, which is in the file *data* that begins at *base*."""
        is_placed = _is_placed(base, run)

        def find(number: int) -> Found | None:
            found = self._find(base + int(run.at[number]))
            is_usual = is_placed[number] and isinstance(found, Found)
            return found if is_usual else None  # type: ignore[return-value]

        words = words_of(data, run, self._known, find)
        is_timed = (words.stored_at_ms >= 0) & (words.stored_at_ms < _FAR)
        is_told = is_placed & is_timed & (words.topic >= 0)
        row, hashes = self._row(base, run, words)
        begin = 0
        for stop in [*np.flatnonzero(~is_told).tolist(), len(run.at)]:
            self._take_told(row, hashes, begin, stop)
            if stop < len(run.at):
                self._take_one(base + int(run.at[stop]))
            begin = stop + 1

    def _row(self, base: int, run: Run, words: Words) -> tuple[_Row, Ints]:
        """Return what is to be dispatched, and the hashes of all keys."""
        physical_offset = run.at + min(base, _FAR)
        kind = run.head["system_flags"] & TRANSACTION_MASK
        self._indexed_until = self._index.last_update[1] if self._index else _FAR
        # [INDEX-KEY-004]
        gets_keys = (kind != TRANSACTION_MASK) & (
            physical_offset >= self._indexed_until
        )
        hashes = words.key_hashes[np.repeat(gets_keys, words.key_count)]
        key_count = np.where(gets_keys, words.key_count, 0)
        row = _Row(
            physical_offset,
            run.size,
            words.topic,
            run.head["queue_id"].astype(np.int64),
            run.head["queue_offset"].astype(np.int64),
            words.tags_code,
            words.stored_at_ms,
            ~np.isin(kind, NOT_CONSUMABLE),  # [STORE-QUEUE-007]
            key_count,
            np.cumsum(key_count),
        )
        return row, hashes

    def _take_told(self, row: _Row, hashes: Ints, begin: int, stop: int) -> None:
        """Dispatch the records number *begin* to before *stop*."""
        while begin < stop:
            count = self._fitting(row, begin, stop)
            if count < max(self._least, 1):
                count = max(count, 1)
                for one in row.physical_offset[begin : begin + count].tolist():
                    self._take_one(one)
            else:
                part = row.only(slice(begin, begin + count))
                self._put_units(part)
                if self._index is not None:
                    end = int(part.key_end[-1])
                    first = end - int(part.key_count.sum())
                    self._index.put_row(_key_row(part, hashes[first:end]))
            begin += count

    def _fitting(self, row: _Row, begin: int, stop: int) -> int:
        """Return how many records the index takes before it needs another file."""
        if self._index is None:
            return stop - begin
        room, indexed_until = self._index.room, self._index.last_update[1]
        # A record that said it stood further on was indexed meanwhile.
        if max(self._indexed_until, row.physical_offset[begin]) < indexed_until:
            return 0
        ends = row.key_end[begin:stop] - row.key_end[begin] + row.key_count[begin]
        if room <= 0:
            return int(np.searchsorted(ends, room, side="right"))
        count = int(np.searchsorted(ends, room))
        return count + 1 if count < len(ends) and ends[count] == room else count

    def _take_one(self, offset: int) -> None:
        found = self._find(offset)
        if isinstance(found, Found):
            self._take(found)

    def _put_units(self, row: _Row) -> None:
        """Give the queues the units of their records."""
        row = row.only(row.is_consumable)
        if not len(row.size):
            return
        self._checkpoint.logics_ms = stored_at_ms = int(row.stored_at_ms[-1])
        if self._is_copy:
            self._checkpoint.physic_ms = stored_at_ms
        order = np.argsort(row.topic << 32 | row.queue_id, kind="stable")
        row = row.only(order)
        units = _units(row)
        for begin, end in _neighbours(row):
            topic = self._known.topics[row.topic[begin]]
            queue = self._queues.get_or_make(topic, int(row.queue_id[begin]))
            if queue is not None:
                queue.put_row(units[begin:end].tobytes(), int(row.queue_offset[begin]))


def _is_placed(base: int, run: Run) -> Flags:
    """Return which records say that they are where they are, and in which queue."""
    head = run.head
    if base >= _FAR:
        return np.zeros(len(run.at), np.bool_)
    is_placed: Flags = head["physical_offset"] == run.at + base
    index = head["queue_offset"]
    is_placed &= (head["queue_id"] >= 0) & (index >= 0) & (index < _INDEX_MAX)
    return is_placed


def _units(row: _Row) -> npt.NDArray[Any]:
    """Return the units of the records in *row*."""
    units = np.empty(len(row.size), _unit)
    units["commit_log_offset"] = row.physical_offset
    units["size"] = row.size
    units["tags_code"] = row.tags_code
    return units


def _neighbours(row: _Row) -> Iterator[tuple[int, int]]:
    """Yield begin and end of records whose units stand one behind the other."""
    goes_on = (np.diff(row.topic) == 0) & (np.diff(row.queue_id) == 0)
    goes_on &= np.diff(row.queue_offset) == 1
    breaks = (np.flatnonzero(~goes_on) + 1).tolist()
    yield from zip([0, *breaks], [*breaks, len(row.size)], strict=True)


def _key_row(row: _Row, hashes: Ints) -> KeyRow:
    """Return what the index gets of the records in *row*."""
    return KeyRow(
        hashes,
        np.repeat(row.physical_offset, row.key_count),
        np.repeat(row.stored_at_ms, row.key_count),
    )
