"""
The sums of a survey: records and units of a queue, boiled down where they are read.

Both sides of a queue have a count, a range and a hash that does not depend on order.
They are made here for thousands of rows at once, so that Spark adds up a few sums
instead of millions of rows. Which rows count is what :mod:`spark_checks.tables` says of
rows that Spark reads; a test holds both to the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints
from spark_checks.sources.log_part import Parts
from spark_checks.sources.record_columns import Delays, RecordColumns
from spark_checks.sources.record_keys import Ranges
from spark_checks.sources.spark_hash import hash_of_longs
from spark_checks.sources.twofold import Twofold
from spark_checks.tables import INNER_BATCH, LIGHT_QUEUE_PREFIX
from spec.integers import INT32_MAX, INT64_MAX, INT64_MIN
from spec.store.message_record import SystemFlag

Bools = npt.NDArray[np.bool_]
_TRANSACTION = int(SystemFlag.TRANSACTION_ROLLBACK)
"""The bits that say what a record is to a transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a survey must know of a store, and what is wanted of it."""

    begin: int = 0
    """Commit-log offset before which nothing is looked at."""
    min_offset: int = 0
    """First commit-log offset that is still there."""
    other_topics: Set[str] = frozenset()
    """Topics whose queues are of another kind."""
    delays: Delays = field(default_factory=dict)
    parts: Parts | None = None
    """The ranges of the log that are looked at, in order; None for all."""
    ranges: Ranges = ()
    """Of the records in these, the keys are summed up."""
    is_aside_wanted: bool = True
    """Whether records that were set aside are rows."""
    is_large: bool = False
    """Whether there is so much to read that kernels are worth their loading."""


class QueueSums(NamedTuple):
    """What one side of one queue sums up to, or a piece of it."""

    rows: int
    matched: int
    first: int
    """INT64_MAX where there is none."""
    last: int
    """INT64_MIN where there is none."""
    hash: int
    bytes: int

    def plus(self, other: QueueSums) -> QueueSums:
        """Return the sums of both pieces together."""
        return QueueSums(
            rows=self.rows + other.rows,
            matched=self.matched + other.matched,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            hash=self.hash ^ other.hash,
            bytes=self.bytes + other.bytes,
        )


Queues = dict[tuple[str, int], QueueSums]
"""Sums by topic and queue id."""


class Groups:
    """Rows that are reduced to one row for each of their *keys*, of which one is."""

    def __init__(self, keys: Ints) -> None:
        low = int(keys.min())
        few = int(keys.max()) - low < 1 << 16
        near = (keys - low).astype(np.uint16) if few else keys  # which sort much faster
        self._order = np.argsort(near, kind="stable")
        ordered = keys[self._order]
        changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        self._begins = np.concatenate([np.zeros(1, np.int64), changes])
        self.examples: Ints = self._order[self._begins]
        """The index of a row of each group."""
        self.sizes: Ints = np.diff(self._begins, append=len(keys))
        """How many rows each group has."""

    def reduced(self, operation: np.ufunc, values: npt.NDArray[Any]) -> Ints:
        """Return what *operation* makes of the *values* of each group."""
        found: Ints = operation.reduceat(values[self._order], self._begins)
        return found

    def counts(self, which: Bools) -> Ints:
        """Return how many rows of each group are of *which*."""
        return self.reduced(np.add, which.astype(np.int64))


def sums_of_records(
    columns: RecordColumns, kept: Ints, *, base: int, asked: Asked
) -> Queues:
    """Return the sums of the *kept* ones of records of the file at *base*, by queue."""
    fixed = columns.fixed
    names = [name.decode("utf-8", "replace") for name in columns.topics.names]
    numbers = columns.topics.numbers[kept]
    queue_ids = fixed["queue_id"][kept].astype(np.int64)
    least = int(queue_ids.min())
    groups = Groups(numbers * (int(queue_ids.max()) - least + 1) + queue_ids - least)
    others = np.array([name in asked.other_topics for name in names])
    needed = needs_unit(fixed["system_flags"][kept].astype(np.int64))
    needed &= ~others[numbers]
    offsets = fixed["position"][kept] + base
    queue_offsets = fixed["queue_offset"][kept].astype(np.int64)
    sizes = fixed["size"][kept].astype(np.int64)
    identity = hash_of_longs(queue_offsets, offsets, sizes, columns.tags_codes[kept])
    queues = zip(
        [names[number] for number in numbers[groups.examples].tolist()],
        queue_ids[groups.examples].tolist(),
        strict=True,
    )
    found: Queues = {}
    sums = _sums(groups, needed, needed, identity, queue_offsets, sizes)
    for queue, one in zip(queues, sums, strict=True):
        add_queue(found, queue, one)
    return found


def add_queue(queues: Queues, queue: tuple[str, int], sums: QueueSums) -> None:
    """Add the *sums* of a piece of *queue* to those of *queues*."""
    known = queues.get(queue)
    queues[queue] = sums if known is None else known.plus(sums)


@Twofold
def sums_of_units(
    queue: tuple[str, int],
    queue_offsets: Ints,
    units: npt.NDArray[Any],
    *,
    asked: Asked,
) -> QueueSums:
    """Return the sums of some *units* of one queue."""
    at, sizes, codes = (
        units[name].astype(np.int64)
        for name in ("commit_log_offset", "size", "tags_code")
    )
    needed = needs_record(at, sizes, codes, min_offset=asked.min_offset)
    needed &= not is_light(queue)
    if asked.parts is not None:
        needed &= (at < 0) | lies_in(at, asked.parts)
    groups = Groups(np.zeros(len(at), np.int64))
    identity = hash_of_longs(queue_offsets, at, sizes, codes)
    every = np.ones(len(at), np.bool_)
    (sums,) = _sums(groups, needed, every, identity, queue_offsets, sizes)
    return sums


def is_light(queue: tuple[str, int]) -> bool:
    """Return whether *queue* is a light one, whose units point at others' records."""
    return queue[0].startswith(LIGHT_QUEUE_PREFIX)


def needs_unit(flags: Ints) -> Bools:
    """Return which records, by their system *flags*, must have a unit."""
    transaction = flags & _TRANSACTION
    half = transaction == int(SystemFlag.TRANSACTION_PREPARED)
    found: Bools = ~half & (transaction != _TRANSACTION) & (flags & INNER_BATCH == 0)
    return found


def is_commit(flags: Ints) -> Bools:
    """Return which records, by their system *flags*, are of committed transactions."""
    found: Bools = flags & _TRANSACTION == int(SystemFlag.TRANSACTION_COMMIT)
    return found


def needs_record(at: Ints, sizes: Ints, codes: Ints, *, min_offset: int) -> Bools:
    """Return which units must point at a record: no fillers, none of deleted files."""
    filler = (at == 0) & (sizes == INT32_MAX) & (codes == 0)
    found: Bools = ~filler & ((at >= min_offset) | (at < 0))
    return found


def lies_in(offsets: Ints, parts: Parts) -> Bools:
    """Return which of *offsets* lie in one of *parts*, which do so in order."""
    edges = np.array(parts, dtype=np.int64).reshape(-1)
    found: Bools = np.searchsorted(edges, offsets, side="right") % 2 == 1
    return found


def _sums(
    groups: Groups,
    needed: Bools,
    ranged: Bools,
    identity: Ints,
    queue_offsets: Ints,
    sizes: Ints,
) -> Iterator[QueueSums]:
    """Yield the sums of each group, which both sides make alike."""
    columns = (
        groups.sizes,
        groups.counts(needed),
        groups.reduced(np.minimum, np.where(ranged, queue_offsets, INT64_MAX)),
        groups.reduced(np.maximum, np.where(ranged, queue_offsets, INT64_MIN)),
        groups.reduced(np.bitwise_xor, np.where(needed, identity, 0)),
        groups.reduced(np.add, np.where(needed, sizes, 0)),
    )
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield QueueSums(*row)
