"""
The sums of a survey: records and units of a queue, reduced where they are read.

Both sides of a queue have a count, a range and a hash that does not depend on order.
Numpy makes them for thousands of rows, so that Spark merges a few sums instead of
millions of rows. :mod:`spark_checks.counting_rules` decides which rows count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, Ints
from columns.numbers.group_sums import add_rows
from columns.scan.log_ranges import within
from columns.scan.record_columns import Queue, RecordColumns
from spark_checks import counting_rules
from spark_checks.counting_rules import BATCH_BIT, TRANSACTION_BITS
from spark_checks.situation import Situation
from spark_checks.survey.summary import QueueSummary, add_queues
from spec.integers import INT64_MAX, INT64_MIN
from spec.wire.message.topic_names import LMQ_PREFIX

QueueUnits = tuple[Queue, Ints, npt.NDArray[Any]]
"""A queue, and queue offsets and bytes of some of its units."""
QueueSums = dict[Any, QueueSummary]
"""Sums by queue; in a survey of blocks by topic, queue id and number of the block."""
GROUPS_MAX = 1 << 12
"""With more queues of topics in a window, only those with a record have sums."""


class QueueNumbers:
    """A number below *count* for the queue of each record of a window."""

    def __init__(self, columns: RecordColumns) -> None:
        queue_ids = columns.found.numbers["queue_id"].astype(np.int64)
        self.topics, self.least_id = columns.topics.texts, int(queue_ids.min())
        self.ids = int(queue_ids.max()) - self.least_id + 1
        """Number of queue ids from the least to the largest."""
        self.numbers = columns.topics.numbers * self.ids + queue_ids - self.least_id

    @property
    def count(self) -> int:
        """Number of queues that the topics may have."""
        return self.ids * len(self.topics)

    def queue(self, number: int) -> Queue:
        """Return the queue with this *number*; several may be of one name."""
        topic, queue_id = divmod(number, self.ids)
        return self.topics[topic], queue_id + self.least_id


def sums_of_records(columns: RecordColumns, situation: Situation) -> QueueSums:
    """Return the sums of records by queue; of batch topics, none needs a unit."""
    queues = QueueNumbers(columns)
    needed = records_with_unit(columns, situation.batch_topics)
    groups = queues.numbers, queues.count
    masks = needed, needed
    rows = record_identities(columns)
    return _by_queue(groups, queues.queue, masks, rows, situation.block_size)


def records_with_unit(columns: RecordColumns, batch_topics: Set[str]) -> Bools:
    """Return the mask of records that need a unit; of *batch_topics*, none does."""
    others = np.array([topic in batch_topics for topic in columns.topics.texts])
    flags = columns.found.numbers["system_flags"].astype(np.int64)
    needed: Bools = counting_rules.needs_unit(
        flags & TRANSACTION_BITS, flags & BATCH_BIT
    )
    needed &= ~others[columns.topics.numbers]
    return needed


def record_identities(columns: RecordColumns) -> tuple[Ints, Ints, Ints, Ints]:
    """Return queue offset, commit-log offset, size and tags code of each record."""
    fixed = columns.found.numbers
    queue_offsets = fixed["queue_offset"].astype(np.int64)
    sizes = fixed["size"].astype(np.int64)
    return queue_offsets, columns.offsets, sizes, columns.tags_codes


def sums_of_units(pieces: Sequence[QueueUnits], situation: Situation) -> QueueSums:
    """Return the sums by queue of the units in *pieces* of queues, at least one."""
    queues = list(dict.fromkeys(queue for queue, _, _ in pieces))
    number = {queue: number for number, queue in enumerate(queues)}
    lengths = [len(units) for _, _, units in pieces]
    groups = np.repeat([number[queue] for queue, _, _ in pieces], lengths)
    queue_offsets = np.concatenate([offsets for _, offsets, _ in pieces])
    at, sizes, codes = (
        np.concatenate([units[name] for _, _, units in pieces], dtype=np.int64)
        for name in ("commit_log_offset", "size", "tags_code")
    )
    needed = counting_rules.needs_record(at, sizes, codes, situation.min_offset)
    # Units of LMQs point at records of other topics.
    needed &= ~np.array([topic.startswith(LMQ_PREFIX) for topic, _ in queues])[groups]
    if situation.parts is not None:
        needed &= (at < 0) | within(at, situation.parts)
    masks = needed, np.ones(len(at), np.bool_)
    rows = (queue_offsets, at, sizes, codes)
    numbers = groups, len(queues)
    return _by_queue(numbers, queues.__getitem__, masks, rows, situation.block_size)


def _by_queue(
    numbers: tuple[Ints, int],
    queue_of: Callable[[int], Queue],
    masks: tuple[Bools, Bools],
    rows: tuple[Ints, ...],
    block_size: int,
) -> QueueSums:
    """Return the sums of *rows* by queue, or by block of *block_size* queue offsets.

    *numbers* are those of the rows' queues, and their limit. *masks* are those that
    :func:`grouped` takes.
    """
    groups, count = numbers
    blocks: list[tuple[int, ...]] = [()]
    if block_size:
        distinct, of_rows = np.unique(rows[0] // block_size, return_inverse=True)
        blocks = [(number,) for number in distinct.tolist()]
        groups, count = groups * len(blocks) + of_rows, count * len(blocks)
    known: Sequence[int] = range(count)
    if count > GROUPS_MAX:
        distinct, groups = np.unique(groups, return_inverse=True)
        known = distinct.tolist()

    def key_of(group: int) -> tuple[Any, ...]:
        queue, block = divmod(known[group], len(blocks))
        return *queue_of(queue), *blocks[block]

    found = grouped(groups, len(known), *masks, *rows)
    return add_queues({}, ((key_of(group), sums) for group, sums in found))


def grouped(
    groups: Ints, count: int, needed: Bools, ranged: Bools, *columns: Ints
) -> Iterator[tuple[int, QueueSummary]]:
    """Yield the number of each group of rows, up to *count*, and its sums.

    Queue offset, commit-log offset, size and tags code are *columns* of records and
    units alike.
    """
    sums = np.zeros((5, count), np.int64)
    sums[2], sums[3] = INT64_MAX, INT64_MIN
    add_rows(groups, needed, ranged, columns, sums)
    for group, (rows, matched, first, last, code) in enumerate(sums.T.tolist()):
        if rows:
            is_empty = first > last
            yield (
                group,
                QueueSummary(
                    count=rows,
                    matched_count=matched,
                    first=None if is_empty else first,
                    last=None if is_empty else last,
                    hash=code,
                ),
            )
