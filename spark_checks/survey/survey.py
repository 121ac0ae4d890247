"""
The survey of a store: all bytes are read once and reduced where they are read.

Each window of the log, piece of a queue and part of an index file becomes a few counts
and sums. An intact store needs no more. The survey runs as Spark tasks
without tables, because planning a table costs more than reading a small store.

A task reads several pieces of files. Tasks get smaller, so that all end together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from pyspark import RDD, SparkContext

from columns.gather import Bools, Ints
from columns.kernels.install import install_kernels
from columns.key_hashes import key_hashes
from columns.numbers.long_hashes import hash_of_longs
from columns.scan.log_file import LogRange, ReadAt, store_time_at
from columns.scan.log_ranges import Sums, within
from columns.scan.record_columns import RecordColumns, read_columns
from columns.scan.record_scan import Region, scan_range
from java_runtime.user_cache import cache_path
from spark_checks.file_systems import reading
from spark_checks.readers.commit_log import CommitLogSource, log_options
from spark_checks.readers.consume_queue import (
    UNITS_AT_ONCE,
    ConsumeQueueSource,
    UnitRange,
    written_units,
)
from spark_checks.readers.index import IndexFile, IndexSource, check_items
from spark_checks.readers.record_keys import sums_of_keys
from spark_checks.session.kernel_request import request_kernels
from spark_checks.situation import Situation
from spark_checks.store_files import Store, cut_by_failover, listing, queue_in
from spark_checks.survey.ledger import Ledger, due_times, entries_of, rows_of
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.sums import QueueUnits, sums_of_records, sums_of_units
from spark_checks.survey.system_topic_records import system_topic_records
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import SCHEDULE_TOPIC

PIECE_SIZE_MIN = 4 * 1024 * 1024
"""Smaller partitions, in bytes, cost more for the task than for reading."""
PIECE_SIZE_MAX = 1024 * 1024 * 1024
"""Larger partitions, in bytes, make a retried or slow task too expensive."""
SMALLEST_EACH = 16
"""Partitions per processor if all were as small as the last, which delays little.

Between two tasks, a processor waits 10 ms for the next one.
"""
PARTS_MERGED_AT_ONCE = 64
"""Up to this number the driver merges all surveys; beyond it, tasks merge some."""
Part = LogRange | UnitRange | IndexFile
Parts = tuple[Part, ...]


@dataclass(slots=True, kw_only=True)
class Survey:
    """Sums and the ledger of a store, or of a part of one."""

    summary: SurveySummary = field(default_factory=SurveySummary)
    ledger: Ledger = field(default_factory=Ledger)

    def plus(self, other: Survey) -> Survey:
        """Return the survey of both parts; reuses this one's tables."""
        return Survey(
            summary=self.summary.plus(other.summary),
            ledger=self.ledger.plus(other.ledger),
        )

    def bounded(self) -> Survey:
        """Return the survey without the rows of its ledger if they are too many."""
        return Survey(summary=self.summary, ledger=self.ledger.bounded())


def survey_store(context: SparkContext, store: Store, situation: Situation) -> Survey:
    """Return the survey of *store*, made by Spark tasks."""
    tasks = surveys_of(context, store, situation)
    depth = 1 if tasks.getNumPartitions() <= PARTS_MERGED_AT_ONCE else 2
    found = tasks.map(Survey.bounded).treeReduce(
        lambda one, other: one.plus(other).bounded(), depth
    )
    if not found.summary.records:
        found.summary = replace(found.summary, log_end=situation.min_offset)
    return found


def survey_uncut(
    context: SparkContext, store: Store, situation: Situation
) -> tuple[Store, Survey]:
    """Return *store* without what a failover cut off its log, and the survey of that.

    The log is read twice if it seems to be damaged where a failover has cut it.
    """
    survey = survey_store(context, store, situation)
    summary = survey.summary
    cut = cut_by_failover(store, summary.last_file_base) if summary.regions else None
    if cut is None:
        return store, survey
    return cut, survey_store(context, cut, situation)


def surveys_of(
    context: SparkContext, store: Store, situation: Situation
) -> RDD[Survey]:
    """Return the surveys of the pieces of files of *store*, at least one."""
    parts = parts_of(store, context.defaultParallelism) or [()]
    size = sum(part.byte_count for some in parts for part in some)
    # No task reads the topics. There may be thousands, and each task gets them.
    situation = replace(situation, known_topics=None)
    if request_kernels(context, size):
        situation = replace(situation, is_large=True)
    url = store.url
    return context.parallelize(parts, len(parts)).map(
        lambda some: survey_of(url, some, situation)
    )


def parts_of(store: Store, processors: int) -> list[Parts]:
    """Return the pieces of the files of *store*, in partitions that get smaller."""
    log = {"files": listing(store.commit_log), **log_options(store)}
    # A byte of the log takes the least time, and its ranges can be cut: it is last.
    parts: list[Any] = [
        *ConsumeQueueSource(
            {"url": store.url, "files": listing(store.queue_files())}
        ).parts(),
        *IndexSource({"url": store.url, "files": listing(store.index)}).parts(),
        *CommitLogSource({"url": store.url, **log}).parts(),
    ]
    return list(group_parts(parts, processors))


def group_parts(parts: Sequence[Part], processors: int) -> Iterator[Parts]:
    """Yield groups of *parts*, in order, for tasks of so many *processors*.

    Each has two thirds of a processor's share of the rest. The last ones are small, so
    that all processors end at the same time. A rest of less than half a small one gets
    no task of its own. Ranges of the log are cut.
    """
    left = sum(part.byte_count for part in parts)
    share = left // (processors * SMALLEST_EACH)
    smallest = min(max(share, PIECE_SIZE_MIN), PIECE_SIZE_MAX)
    rest = [*reversed(parts)]
    while rest:
        room = min(max(2 * left // (3 * processors), smallest), PIECE_SIZE_MAX)
        if left - room < smallest // 2:
            room = left
        taken: list[Part] = []
        while rest and room > 0:
            part = rest.pop()
            size = part.byte_count
            if size > room and isinstance(part, LogRange):
                cut = part.start + room
                rest.append(replace(part, start=cut))
                part, size = replace(part, end=cut), room
            elif size > room and taken:
                rest.append(part)
                break
            taken.append(part)
            room -= size
            left -= size
        yield tuple(taken)


def load_kernels() -> bool:
    """Load the kernels of the user's cache; return False if they are missing."""
    return install_kernels(cache_path())


def survey_of(url: str, parts: Parts, situation: Situation) -> Survey:
    """Return the survey of some pieces of files of the store *url*."""
    has_kernels = situation.is_large and load_kernels()
    queues = [part for part in parts if isinstance(part, UnitRange)]
    rest = [part for part in parts if not isinstance(part, UnitRange)]
    each = (_of_part(url, part, situation) for part in rest)
    found = reduce(Survey.plus, each, survey_units(url, queues, situation))
    if not situation.is_large:
        return found
    tasks = SurveySummary(
        kernel_tasks=int(has_kernels), fallback_tasks=int(not has_kernels)
    )
    return found.plus(Survey(summary=tasks))


def _of_part(url: str, part: LogRange | IndexFile, situation: Situation) -> Survey:
    with reading(url, part.path) as read_at:
        if isinstance(part, IndexFile):
            return survey_index(read_at, part, situation)
        return survey_log(read_at, part, situation)


def survey_log(read_at: ReadAt, where: LogRange, situation: Situation) -> Survey:
    """Return the survey of a range of the log.

    A suspect range begins at the window before, whose first record is certain or in a
    suspect range as well. Readers begin at certain records.
    """
    begun_at_ms = store_time_at(read_at, where, 0)
    total = Survey()
    before = begin = where.base + where.start
    for found in scan_range(read_at, where):
        if isinstance(found, Region):
            part = _of_region(found, where)
            end = where.base + found.position + found.size
        else:
            columns = read_columns(
                found,
                situation.delays,
                begun_at_ms=begun_at_ms,
                is_checked=not situation.block_size,
            )
            part = survey_records(columns, where.base, situation)
            end = part.summary.log_end
            del columns
        del found  # the next window takes its memory
        if part.summary.has_suspect_rows:
            part.summary.suspect_ranges.append((before, end))
        total = total.plus(part)
        before, begin = begin, end
    total.ledger = entries_of(total.ledger, situation.min_offset)
    return total


def _of_region(region: Region, where: LogRange) -> Survey:
    summary = SurveySummary(
        regions=int(region.kind == "damaged"),
        first_tail_base=where.base if region.kind == "tail" else None,
    )
    return Survey(summary=summary)


def survey_records(columns: RecordColumns, base: int, situation: Situation) -> Survey:
    """Return the survey of the records of a window of the file at *base*."""
    records = sums_of_records(columns, situation)
    if situation.block_size:  # the other sums are known
        return Survey(summary=SurveySummary(records=records))
    fixed = columns.found.numbers
    of_keys: Sums = {}
    of_tags: Sums = {}
    if situation.key_ranges:
        keys = key_hashes(columns.found, columns.topics, columns.split)
        at = columns.offsets[keys.record]
        of_keys, of_tags = sums_of_keys(
            keys, at, situation.key_ranges, situation.sections
        )
    summary = SurveySummary(
        records=records,
        wrong_records=_count(columns.are_wrong),
        damaged=_count(columns.damage != 0),
        log_end=int(columns.offsets[-1] + fixed["size"][-1]),
        last_stored_at_ms=int(fixed["stored_at_ms"].max()),
        last_file_base=base,
        key_sums=of_keys,
        tag_sums=of_tags,
    )
    if not situation.needs_system_topics:
        return Survey(summary=summary)
    ledger = rows_of(system_topic_records(columns), columns.data)
    return Survey(summary=summary, ledger=ledger)


def _count(which: Bools) -> int:
    return int(np.count_nonzero(which))


def survey_units(url: str, parts: Iterable[UnitRange], situation: Situation) -> Survey:
    """Return the survey of some units of consume queues."""
    total = Survey()
    for queues in units_in(url, parts):
        summary = SurveySummary(units=sums_of_units(queues, situation))
        delayed = [u for queue, _, u in queues if queue[0] == SCHEDULE_TOPIC]
        due = (due_times(units, situation.min_offset) for units in delayed)
        needed = due if situation.needs_system_topics else ()
        ledger = reduce(Ledger.plus, needed, Ledger())
        total = total.plus(Survey(summary=summary, ledger=ledger))
    return total


def units_in(url: str, parts: Iterable[UnitRange]) -> Iterator[list[QueueUnits]]:
    """Yield the written units of *parts*, UNITS_AT_ONCE together.

    A queue has few units in a file. Numpy takes as long for them as for thousands.
    """
    held: list[QueueUnits] = []
    count = 0
    for part in parts:
        with reading(url, part.path) as read_at:
            units, positions = written_units(read_at, part.span)
        if len(units):
            offsets: Ints = (part.file.base + positions) // UNIT_SIZE
            held.append((queue_in(part.file), offsets, units))
            count += len(units)
        if count >= UNITS_AT_ONCE:
            yield held
            held, count = [], 0
    if held:
        yield held


def survey_index(read_at: ReadAt, file: IndexFile, situation: Situation) -> Survey:
    """Return the number of damaged items and slots, and the sum of items."""
    found = check_items(read_at, file)
    if found is None:
        return Survey()
    offsets, codes = found.items["commit_log_offset"], found.items["key_hash"]
    damaged = (found.items["damage"] != 0) & (
        (offsets < 0) | (offsets >= situation.begin)
    )
    inside = within(offsets, situation.key_ranges)
    hashes = hash_of_longs(offsets, codes)[inside]
    summary = SurveySummary(
        slots_used=Counter({file.path: found.slots_used}),
        damaged_items=_count(damaged) + len(found.wrong_slots["damage"]),
        item_sums=situation.sections.sums(offsets[inside], hashes),
    )
    return Survey(summary=summary)
