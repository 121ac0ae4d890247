"""
The survey of a store: all bytes read once, and boiled down where they are read.

What is left of a window of the log, a piece of a consume queue or a part of an index
file is how many there are of what, and what they sum up to. A store in order needs no
more. The survey is made by plain tasks of Spark, not by a source: a few sums from each
are no table, and to plan one costs more than to read a small store.

A task reads some pieces of files, of any kind, about as many bytes as the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from pyspark import SparkContext

from spark_checks.kernels.use import use_kernels
from spark_checks.kernels.worth import ask_workers
from spark_checks.sources.commit_log import CommitLogReader, LogRange
from spark_checks.sources.consume_queue import (
    ConsumeQueueReader,
    Piece,
    QueueFiles,
    queue_in,
    written_units,
)
from spark_checks.sources.everyday import (
    Everyday,
    KnownTopics,
    Place,
    everyday_of,
    known_topics,
)
from spark_checks.sources.gather import Ints
from spark_checks.sources.index import IndexFile, IndexReader, checked_items
from spark_checks.sources.key_hashes import key_hashes
from spark_checks.sources.ledger import Ledger, entries_of
from spark_checks.sources.record_columns import RecordColumns, read_columns
from spark_checks.sources.record_keys import meeting, sums_of_keys, within
from spark_checks.sources.record_scan import (
    FileRange,
    ReadAt,
    Refused,
    Region,
    Window,
    begun_at,
    scan_range,
)
from spark_checks.sources.spark_hash import xor_of
from spark_checks.sources.store_files import Store, reading
from spark_checks.sources.sums import (
    Asked,
    Bools,
    Queues,
    add_queue,
    is_commit,
    sums_of_records,
    sums_of_units,
)
from spark_checks.tables import listing
from spec.integers import INT64_MIN
from spec.store.consume_queue import UNIT_SIZE

PIECE_SIZE_MIN = 4 * 1024 * 1024
"""Bytes below which a partition is not worth its task."""
PIECE_SIZE_MAX = 512 * 1024 * 1024
"""Bytes above which a task that fails, or is slow, would be too much of the whole."""
TASKS_EACH = 8
"""Partitions for each processor, so that none waits long for the last one."""
PARTS_MERGED_AT_ONCE = 64
"""Partitions whose surveys are merged by who asks; of more, tasks merge some first."""
Part = LogRange | QueueFiles | IndexFile
Parts = tuple[Part, ...]


@dataclass(slots=True, kw_only=True)
class Survey:
    """What a store, or a part of one, boils down to."""

    records: Queues = field(default_factory=dict)
    units: Queues = field(default_factory=dict)
    regions: int = 0
    """Damaged ones."""
    tails: list[int] = field(default_factory=list)
    """The base of the first file that is not written to its end, if there is one."""
    bad_checksums: int = 0
    bad_places: int = 0
    flawed: int = 0
    commits: int = 0
    log_end: int = -1
    """Behind the last record; negative where there is none, as the next one."""
    last_file: int = -1
    last_ms: int = INT64_MIN
    flawed_items: int = 0
    item_sum: int = 0
    key_sums: tuple[int, int] = (0, 0)
    """Without tags, and with them."""
    ledger: Ledger = field(default_factory=Ledger)

    def plus(self, other: Survey) -> Survey:
        """Return the survey of both parts, which takes over what this one has."""
        for mine, others in ((self.records, other.records), (self.units, other.units)):
            for queue, sums in others.items():
                add_queue(mine, queue, sums)
        plain, tagged = self.key_sums
        return replace(
            self,
            regions=self.regions + other.regions,
            tails=sorted([*self.tails, *other.tails])[:1],
            bad_checksums=self.bad_checksums + other.bad_checksums,
            bad_places=self.bad_places + other.bad_places,
            flawed=self.flawed + other.flawed,
            commits=self.commits + other.commits,
            log_end=max(self.log_end, other.log_end),
            last_ms=max(self.last_ms, other.last_ms),
            last_file=max(self.last_file, other.last_file),
            flawed_items=self.flawed_items + other.flawed_items,
            item_sum=self.item_sum ^ other.item_sum,
            key_sums=(plain ^ other.key_sums[0], tagged ^ other.key_sums[1]),
            ledger=self.ledger.plus(other.ledger),
        )


def survey_store(context: SparkContext, store: Store, asked: Asked) -> Survey:
    """Return the survey of *store*, made by tasks of Spark."""
    processors = context.defaultParallelism
    parts = parts_of(store, asked, processors)
    if not parts:
        return Survey()
    size = sum(size_of(part) for some in parts for part in some)
    if ask_workers(context, size):
        asked = replace(asked, is_large=True)
    url = store.url
    tasks = context.parallelize(parts, len(parts)).map(
        lambda some: survey_of(url, some, asked)
    )
    return tasks.treeReduce(Survey.plus, 1 if len(parts) <= PARTS_MERGED_AT_ONCE else 2)


def parts_of(store: Store, asked: Asked, processors: int) -> list[Parts]:
    """Return the pieces of the files of *store*, in partitions of about equal size."""
    count = processors * TASKS_EACH
    begin = [["offset", ">=", asked.begin]] if asked.begin else []
    log = {
        "files": listing(store.commit_log),
        "where": json.dumps(begin),
        "parts": json.dumps(asked.parts),
    }
    queues = {"files": listing(store.consume_queues), "partitions": str(count)}
    of_index = {"files": json.dumps([[file.path, file.size] for file in store.index])}
    readers = (
        CommitLogReader({"url": store.url, **log}),
        ConsumeQueueReader({"url": store.url, **queues}),
        IndexReader({"url": store.url, **of_index}),
    )
    parts: list[Any] = [part for one in readers for part in one.partitions()]
    total = sum(map(size_of, parts))
    limit = max(min(total // count + 1, PIECE_SIZE_MAX), PIECE_SIZE_MIN)
    return list(packed((piece for part in parts for piece in cut(part, limit)), limit))


def cut(part: Part, size: int) -> Iterator[Part]:
    """Yield the ranges, of *size* bytes at most, of a *part* of the log."""
    if not isinstance(part, LogRange):
        yield part
        return
    for start in range(part.start, part.end, size):
        yield replace(part, start=start, end=min(start + size, part.end))


def size_of(part: Part) -> int:
    """Return about how many bytes are read of *part*."""
    if isinstance(part, LogRange):
        return part.end - part.start
    if isinstance(part, QueueFiles):
        return sum(len(units) for _, units in part.pieces) * UNIT_SIZE
    return part.size


def packed(parts: Iterable[Part], limit: int) -> Iterator[Parts]:
    """Yield partitions of *parts*, in order, of *limit* bytes or one part each."""
    taken: list[Part] = []
    room = limit
    for part in parts:
        size = size_of(part)
        if taken and size > room:
            yield tuple(taken)
            taken, room = [], limit
        taken.append(part)
        room -= size
    if taken:
        yield tuple(taken)


def survey_of(url: str, parts: Parts, asked: Asked) -> Survey:
    """Return the survey of some pieces of files of the store *url*."""
    if asked.is_large:
        use_kernels()
    return reduce(Survey.plus, (_of_part(url, part, asked) for part in parts))


def _of_part(url: str, part: Part, asked: Asked) -> Survey:
    if isinstance(part, QueueFiles):
        units: Queues = {}
        for piece in part.pieces:
            with reading(url, piece[0][0]) as read_at:
                survey_units(read_at, piece, asked, units)
        return Survey(units=units)
    with reading(url, part.path) as read_at:
        if isinstance(part, IndexFile):
            return survey_index(read_at, part, asked)
        return survey_log(read_at, part.where, asked)


def survey_log(read_at: ReadAt, where: FileRange, asked: Asked) -> Survey:
    """Return the survey of a range of the log."""
    total = Survey()
    known = known_topics(frozenset(asked.other_topics))
    begun_at_ms = begun_at(read_at, where)
    scan = scan_range(read_at, where)
    found = next(scan, None)
    while found is not None:
        refused = None
        if isinstance(found, Region):
            if where.base + found.position >= asked.begin:
                total = total.plus(_of_region(found, where))
        else:
            some, refused = survey_found(
                found, where, asked, known=known, begun_at_ms=begun_at_ms
            )
            total = total.plus(some)
        try:
            found = scan.send(refused)
        except StopIteration:
            break
    return total


def _of_region(region: Region, where: FileRange) -> Survey:
    return Survey(
        regions=int(region.kind == "damaged"),
        tails=[where.base] if region.kind == "tail" else [],
    )


def survey_found(
    window: Window,
    where: FileRange,
    asked: Asked,
    *,
    known: KnownTopics,
    begun_at_ms: int | None,
) -> tuple[Survey, Refused | None]:
    """Return the survey of what was found in a *window*, and the first that is none."""
    offset = where.base + window.position
    everyday = Everyday(left=window.starts)
    if offset >= asked.begin:
        ranges = meeting(asked.ranges, offset, offset + len(window.data))
        place = Place(offset=offset, begun_at_ms=begun_at_ms, ranges=ranges)
        everyday = everyday_of(window, place, known)
    if not len(everyday.left):
        return _of_everyday(everyday, where), None
    rest = replace(window, starts=everyday.left)
    columns, refused = read_columns(rest, asked.delays, begun_at_ms=begun_at_ms)
    if refused is not None and len(rest.starts) < len(window.starts):
        # What comes behind the first that is none is found, and summed up, later.
        columns, refused = read_columns(window, asked.delays, begun_at_ms=begun_at_ms)
        everyday = Everyday(left=window.starts)
    total = _of_everyday(everyday, where)
    if columns is not None:
        known.learn(columns.topics.names)
        total = total.plus(survey_window(window, columns, where, asked))
    return total, refused


def _of_everyday(everyday: Everyday, where: FileRange) -> Survey:
    return Survey(
        records=everyday.records,
        log_end=everyday.log_end,
        last_ms=everyday.last_ms,
        last_file=where.base if everyday.records else -1,
        key_sums=everyday.key_sums,
    )


def survey_window(
    window: Window, columns: RecordColumns, where: FileRange, asked: Asked
) -> Survey:
    """Return the survey of the records of a window of the log."""
    fixed = columns.fixed
    offsets = fixed["position"] + where.base
    kept = np.flatnonzero(offsets >= asked.begin)
    if not len(kept):
        return Survey()
    places = offsets[kept]
    sums = (0, 0)
    if asked.ranges:
        keys = key_hashes(columns.found, columns.topics, columns.split)
        sums = sums_of_keys(keys, offsets[keys.record], asked.ranges)
    return Survey(
        records=sums_of_records(columns, kept, base=where.base, asked=asked),
        bad_checksums=_count(fixed["body_crc"][kept] != columns.body_crcs[kept]),
        bad_places=_count(fixed["physical_offset"][kept] != places),
        flawed=_count(columns.flaws[kept] != 0),
        commits=_count(is_commit(fixed["system_flags"][kept])),
        log_end=int((places + fixed["size"][kept]).max()),
        last_ms=int(fixed["stored_at_ms"][kept].max()),
        last_file=where.base,
        key_sums=sums,
        ledger=entries_of(window.data, columns, kept, base=where.base, asked=asked)
        if asked.is_aside_wanted
        else Ledger(),
    )


def _count(which: Bools) -> int:
    return int(np.count_nonzero(which))


def survey_units(read_at: ReadAt, piece: Piece, asked: Asked, queues: Queues) -> None:
    """Add the sums of some units of a consume-queue file to *queues*."""
    file, whole = piece
    queue = queue_in(file[0])
    for units, positions in written_units(read_at, file, whole):
        queue_offsets: Ints = (file[1] + positions) // UNIT_SIZE
        sums = sums_of_units(queue, queue_offsets, units, asked=asked)
        add_queue(queues, queue, sums)


def survey_index(read_at: ReadAt, file: IndexFile, asked: Asked) -> Survey:
    """Return how many items and slots of *file* are flawed, and a sum of its items."""
    found = checked_items(read_at, file)
    if found is None:
        return Survey()
    offsets = found.items["commit_log_offset"].astype(np.int64)
    flawed = (found.flaws != 0) & ((offsets < 0) | (offsets >= asked.begin))
    inside = within(offsets, asked.ranges)
    codes = found.items["key_hash"].astype(np.int64)
    return Survey(
        flawed_items=_count(flawed) + len(found.wrong),
        item_sum=xor_of(offsets[inside], codes[inside]),
    )
