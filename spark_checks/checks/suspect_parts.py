"""
Parts of suspect queues to compare row by row: ranges of queue offsets.

A damaged record or a lost file of the log breaks a small part of a queue. The log and
the suspect queues of a large store are therefore read once more. Each block of queue
offsets gets sums of its own. A part is the blocks that differ, and the intact blocks
beside them, so that each gap lies within a part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from columns.scan.log_ranges import merged
from columns.scan.record_columns import Queue, QueuePart
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.situation import Situation
from spark_checks.store_files import queue_of
from spark_checks.survey.summary import QueueSummary, differ, starts_late
from spark_checks.survey.survey import survey_store
from spec.integers import INT64_MAX, INT64_MIN

LARGE_SIZE = 256 << 20
"""Smallest log, in bytes, whose queues are divided."""
BLOCK_SIZE_MIN = 1024
BLOCKS_MAX = 1 << 15
"""Blocks of a store, about; the larger a store, the larger are its blocks."""
QueueBlock = tuple[str, int, int]
"""Topic, queue id, and the number of a block of queue offsets."""
Blocks = Mapping[QueueBlock, QueueSummary]
Sides = tuple[Blocks, Blocks]
"""Sums of the records and of the units in each block."""


def whole(queue: Queue) -> QueuePart:
    """Return all of *queue* as one part."""
    return (*queue, INT64_MIN, INT64_MAX)


def suspect_parts(
    surveyed: SurveyedStore, suspects: Collection[Queue]
) -> list[QueuePart]:
    """Return the parts of *suspects* to compare, in order; all of a small store."""
    store = surveyed.store
    size = store.commit_log_size
    if not suspects or size < LARGE_SIZE:
        return [whole(queue) for queue in suspects]
    queues = frozenset(suspects)
    files = [file for file in store.queue_files() if queue_of(file.path) in queues]
    size += sum(file.size for file in files)
    surveyed.progress(f"looking for parts of queues that differ: {size:,} bytes", size)
    situation = replace(
        surveyed.situation,
        block_size=max(surveyed.summary.record_count // BLOCKS_MAX, BLOCK_SIZE_MIN),
        needs_system_topics=False,
    )
    store = replace(store, files=(*store.commit_log, *files))
    summary = survey_store(surveyed.context, store, situation).summary
    sides = cast("Sides", (summary.records, summary.units))
    numbers: dict[Queue, list[int]] = defaultdict(list)
    for topic, queue_id, number in sorted({key for side in sides for key in side}):
        numbers[topic, queue_id].append(number)
    return [
        part
        for queue in suspects
        for part in parts_that_differ(queue, numbers[queue], sides, situation)
    ]


def parts_that_differ(
    queue: Queue, numbers: Sequence[int], sides: Sides, situation: Situation
) -> list[QueuePart]:
    """Return the parts of *queue* to compare; *numbers* are those of its blocks."""
    records, units = sides
    blocks = [(*queue, number) for number in numbers]
    wrong = {
        index
        for index, block in enumerate(blocks)
        if differ(records.get(block), units.get(block), situation)
    }
    for side in (units,) if situation.is_sampled else sides:
        wrong |= _beside_gaps(blocks, side)
    for index in _with_offsets(blocks, records)[:1]:
        if starts_late(records[blocks[index]], situation):
            wrong.add(index)
    if not wrong:
        return [whole(queue)]
    size = situation.block_size
    ranges = [
        (
            numbers[index - 1] * size if index > 1 else INT64_MIN,
            (numbers[min(index + 1, len(numbers) - 1)] + 1) * size,
        )
        for index in wrong
    ]
    return [(*queue, begin, end - 1) for begin, end in merged(ranges)]


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
