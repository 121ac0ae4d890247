"""
Dispatch of all that the log has just been given, in one go.

Neighbours are mostly alike: messages of a few queues that go on where they end, with
keys for an index file that has room. Then the units of a queue are written together,
and so are the items of the index. `Dispatcher.take` is the plain way, one record after
the other, and takes whatever is not so; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.api import Arrival, new_tuple
from reference.core.store.consume_queue import ConsumeQueue, Unit
from reference.core.store.files import FilesError
from reference.core.store.index import Index
from reference.core.store.queue_table import QueueTable
from reference.core.store.records import NOT_CONSUMABLE, TRANSACTION_MASK, Found

_Rows = dict[tuple[str, int], tuple[ConsumeQueue, list[Unit]]]
"""By topic and queue id: the queue, and the units that it goes on with."""


def take_at_once(
    run: Sequence[Found], queues: QueueTable, index: Index | None
) -> list[Arrival] | None:
    """Put the records of *run* into their queues and into *index*, if there is one.

    None, with nothing done, where they have to be taken one by one: also where the
    files refuse, so that all before what is refused is seen, and nothing behind it.
    """
    rows: _Rows = {}
    arrivals = _arrivals(run, queues, rows)
    if arrivals is None or not _has_space(rows):
        return None
    # The index may still be refused. The units may not: they have their space.
    if index is not None and not _is_indexed(run, index):
        return None
    for queue, units in rows.values():
        queue.put_all(units)
    return arrivals


def _arrivals(
    run: Sequence[Found], queues: QueueTable, rows: _Rows
) -> list[Arrival] | None:
    """Return what becomes visible with *run*, and add the units to *rows*.

    None where a queue does not go on with what is there for it, and where the log has
    something between two of them that nobody told of.
    """
    arrivals: list[Arrival] = []
    end = run[0].physical_offset
    new = new_tuple
    for found in run:
        size, topic, queue_id, index, offset, code, stored_at_ms, flags, *_ = found
        row = rows.get((topic, queue_id))
        if row is None:
            queue = queues.get(topic, queue_id)
            if queue is None or not queue.goes_on_with(found):
                return None
            row = rows[topic, queue_id] = (queue, [])
        # [STORE-QUEUE-007]
        if offset != end or flags & TRANSACTION_MASK in NOT_CONSUMABLE:
            return None
        end = offset + size
        row[1].append((offset, size, code))
        seen = (topic, queue_id, index + 1, code, stored_at_ms)
        arrivals.append(new(Arrival, seen))
    return arrivals


def _has_space(rows: _Rows) -> bool:
    """Return whether all units fit, and have their space on the disk from now on."""
    try:
        return all(queue.reserve(len(units)) for queue, units in rows.values())
    except FilesError:
        return False


def _is_indexed(run: Sequence[Found], index: Index) -> bool:
    """Return whether *index* has the keys of *run* now; if not, it has none of them."""
    try:
        return index.put_all(run)
    except FilesError:
        return False
