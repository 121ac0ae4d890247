"""
Parts of suspect queues to compare row by row: ranges of queue offsets.

A damaged record or a lost file of the log breaks a small part of a queue. The log and
the suspect queues of a large store are therefore read once more. Each block of queue
offsets gets sums of its own. A part is the blocks that differ, and the intact blocks
beside them, so that each gap lies within a part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from columns.log_batch import LogBatch
from columns.scan.log_file import LogRange
from columns.scan.log_ranges import merged
from columns.scan.record_columns import (
    Queue,
    QueuePart,
    RecordColumns,
    read_columns,
)
from columns.scan.record_scan import scan_range
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.file_systems import reading
from spark_checks.readers.consume_queue import QueuePieces
from spark_checks.situation import Situation
from spark_checks.store_files import queue_of
from spark_checks.survey.summary import (
    QueueBlock,
    QueueSummary,
    add_queues,
    differ,
    starts_late,
)
from spark_checks.survey.sums import (
    QueueNumbers,
    QueueUnits,
    grouped,
    record_identities,
    records_with_unit,
    sums_of_units,
)
from spark_checks.survey.survey import Parts, parts_of, units_in
from spec.integers import INT64_MAX, INT64_MIN

LARGE_SIZE = 256 << 20
"""Smallest log, in bytes, whose queues are divided."""
BLOCK_SIZE_MIN = 1024
BLOCKS_MAX = 1 << 15
"""Blocks of a store, about; the larger a store, the larger are its blocks."""
Blocks = dict[QueueBlock, QueueSummary]
Sides = tuple[Blocks, Blocks]
"""Sums of the records and of the units in each block."""


def whole(queue: Queue) -> QueuePart:
    """Return all of *queue* as one part."""
    return (*queue, INT64_MIN, INT64_MAX)


def suspect_parts(
    surveyed: SurveyedStore, suspects: Collection[Queue]
) -> list[QueuePart]:
    """Return the parts of *suspects* to compare, in order; all of a small store."""
    store, context = surveyed.store, surveyed.context
    size = store.commit_log_size
    if not suspects or size < LARGE_SIZE:
        return [whole(queue) for queue in suspects]
    queues = frozenset(suspects)
    files = [file for file in store.queue_files() if queue_of(file.path) in queues]
    size += sum(file.size for file in files)
    surveyed.progress(f"looking for parts of queues that differ: {size:,} bytes", size)
    store = replace(store, files=(*store.commit_log, *files))
    pieces = parts_of(store, context.defaultParallelism)
    survey = BlockSurvey(
        url=store.url,
        queues=queues,
        situation=replace(surveyed.situation, known_topics=None),
        size=max(surveyed.summary.record_count // BLOCKS_MAX, BLOCK_SIZE_MIN),
    )
    tasks = context.parallelize(pieces, len(pieces)).map(survey.sides_of)
    records, units = tasks.treeReduce(_both)
    numbers: dict[Queue, list[int]] = defaultdict(list)
    for topic, queue_id, number in sorted({*records, *units}):
        numbers[topic, queue_id].append(number)
    return [
        part
        for queue in suspects
        for part in survey.parts_that_differ(queue, numbers[queue], (records, units))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSurvey:
    """Survey of some queues of a store, by blocks of queue offsets."""

    url: str
    queues: Set[Queue]
    situation: Situation
    size: int
    """Queue offsets of a block."""

    def sides_of(self, parts: Parts) -> Sides:
        """Return the sums of some pieces of files."""
        records: Blocks = {}
        units: Blocks = {}
        for part in parts:
            if isinstance(part, LogRange):
                add_queues(records, self._of_log(part))
            elif isinstance(part, QueuePieces):
                for pieces in units_in(self.url, part):
                    blocks = [block for one in pieces for block in self._blocks_of(one)]
                    add_queues(units, sums_of_units(blocks, self.situation).items())
        return records, units

    def _of_log(self, part: LogRange) -> Iterator[tuple[QueueBlock, QueueSummary]]:
        with reading(self.url, part.path) as read_at:
            for found in scan_range(read_at, part):
                if isinstance(found, LogBatch):
                    yield from self._of_records(
                        read_columns(found, self.situation.delays, is_checked=False)
                    )

    def _of_records(
        self, columns: RecordColumns
    ) -> Iterator[tuple[QueueBlock, QueueSummary]]:
        """Yield the sums of the records of each block in a window."""
        needed = records_with_unit(columns, self.situation.batch_topics)
        rows = record_identities(columns)
        queues = QueueNumbers(columns)
        blocks, numbers = np.unique(rows[0] // self.size, return_inverse=True)
        distinct, groups = np.unique(
            queues.numbers * len(blocks) + numbers, return_inverse=True
        )
        for group, sums in grouped(groups, len(distinct), needed, needed, *rows):
            number, block = divmod(int(distinct[group]), len(blocks))
            queue = queues.queue(number)
            if queue in self.queues:
                yield (*queue, int(blocks[block])), sums

    def _blocks_of(self, piece: QueueUnits[Queue]) -> Iterator[QueueUnits[QueueBlock]]:
        """Yield the blocks of a *piece* of a queue."""
        queue, offsets, units = piece
        numbers = offsets // self.size
        edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for begin, end in pairwise(edges):
            block = (*queue, int(numbers[begin]))
            yield block, offsets[begin:end], units[begin:end]

    def parts_that_differ(
        self, queue: Queue, numbers: Sequence[int], sides: Sides
    ) -> list[QueuePart]:
        """Return the parts of *queue* to compare; *numbers* are those of its blocks."""
        records, units = sides
        blocks = [(*queue, number) for number in numbers]
        wrong = {
            index
            for index, block in enumerate(blocks)
            if differ(records.get(block), units.get(block), self.situation)
        }
        for side in (units,) if self.situation.is_sampled else sides:
            wrong |= _beside_gaps(blocks, side)
        for index in _with_offsets(blocks, records)[:1]:
            if starts_late(records[blocks[index]], self.situation):
                wrong.add(index)
        if not wrong:
            return [whole(queue)]
        ranges = [
            (
                numbers[index - 1] * self.size if index > 1 else INT64_MIN,
                (numbers[min(index + 1, len(numbers) - 1)] + 1) * self.size,
            )
            for index in wrong
        ]
        return [(*queue, begin, end - 1) for begin, end in merged(ranges)]


def _both(one: Sides, other: Sides) -> Sides:
    records, units = one
    return add_queues(records, other[0].items()), add_queues(units, other[1].items())


def _beside_gaps(blocks: Sequence[QueueBlock], side: Blocks) -> set[int]:
    """Return the indices of the *blocks* at gaps of one *side*."""
    found: set[int] = set()
    for one, other in pairwise(_with_offsets(blocks, side)):
        last, first = side[blocks[one]].last, side[blocks[other]].first
        if last is not None and first != last + 1:
            found.update(range(one, other + 1))
    return found


def _with_offsets(blocks: Sequence[QueueBlock], side: Blocks) -> list[int]:
    """Return the indices of the *blocks* in which *side* has offsets that count."""
    return [
        index
        for index, block in enumerate(blocks)
        if block in side and side[block].first is not None
    ]
