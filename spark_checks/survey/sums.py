"""
The sums of a survey: records and units of a queue, reduced where they are read.

Both sides of a queue have a count, a range and a hash that does not depend on order.
Numpy makes them for thousands of rows, so that Spark merges a few sums instead of
millions of rows. :mod:`spark_checks.counting_rules` decides which rows count.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Ints
from spark_checks import counting_rules
from spark_checks.columns.long_hashes import hash_of_longs
from spark_checks.columns.record_columns import Delays, RecordColumns
from spark_checks.counting_rules import BATCH_BIT, TRANSACTION_BITS
from spark_checks.readers.log_part import Ranges, within
from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.survey.summary import Queues, QueueSummary, add_queue
from spec.integers import INT64_MAX, INT64_MIN
from spec.wire.message.topic_names import LMQ_PREFIX

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyOptions:
    """Facts about a store that a survey uses, and the requested sums."""

    begin: int = 0
    """Commit-log offset at which the audit begins."""
    min_offset: int = 0
    """First commit-log offset that still exists."""
    other_topics: Set[str] = frozenset()
    """Topics with batch consume queues."""
    delays: Delays = field(default_factory=dict)
    parts: Ranges | None = None
    """Audited ranges of the log, in order; None for all."""
    ranges: Ranges = ()
    """Ranges in which keys are summed up."""
    needs_system_topics: bool = True
    """Whether to keep a ledger of system topics."""
    is_large: bool = False
    """Whether loading kernels costs less than it saves."""

    @classmethod
    def of(
        cls,
        store: Store,
        situation: Situation,
        delays: Delays,
        *,
        ranges: Ranges = (),
        needs_system_topics: bool = False,
    ) -> SurveyOptions:
        """Return the options for *store*, with the requested sums."""
        return cls(
            begin=store.begin,
            min_offset=situation.min_offset,
            parts=situation.parts,
            other_topics=situation.other_topics,
            delays=dict(delays),
            ranges=ranges,
            needs_system_topics=needs_system_topics,
        )


def queue_summary(
    count: int, matched: int, first: int, last: int, code: int, size: int
) -> QueueSummary:
    """Return the summary with these values; an empty range is from high to low."""
    is_empty = first > last
    return QueueSummary(
        count=count,
        matched_count=matched,
        first=None if is_empty else first,
        last=None if is_empty else last,
        hash=code,
        bytes=size,
    )


class Groups:
    """Rows grouped by their *keys*, at least one row."""

    def __init__(self, keys: Ints) -> None:
        low = int(keys.min())
        few = int(keys.max()) - low < 1 << 16
        near = (keys - low).astype(np.uint16) if few else keys  # sorts faster
        self._order = np.argsort(near, kind="stable")
        ordered = keys[self._order]
        changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        self._begins = np.concatenate([np.zeros(1, np.int64), changes])
        self.examples: Ints = self._order[self._begins]
        """Index of one row of each group."""
        self.sizes: Ints = np.diff(self._begins, append=len(keys))
        """Number of rows of each group."""

    def reduced(self, operation: np.ufunc, values: npt.NDArray[Any]) -> Ints:
        """Return *operation* reduced over the *values* of each group."""
        found: Ints = operation.reduceat(values[self._order], self._begins)
        return found

    def counts(self, which: Bools) -> Ints:
        """Return the number of rows of *which* in each group."""
        return self.reduced(np.add, which.astype(np.int64))


def sums_of_records(
    columns: RecordColumns, kept: Ints, *, base: int, options: SurveyOptions
) -> Queues:
    """Return the sums by queue of the *kept* records of the file at *base*."""
    fixed = columns.found.numbers
    names = [name.decode("utf-8", "replace") for name in columns.topics.names]
    numbers = columns.topics.numbers[kept]
    queue_ids = fixed["queue_id"][kept].astype(np.int64)
    least = int(queue_ids.min())
    groups = Groups(numbers * (int(queue_ids.max()) - least + 1) + queue_ids - least)
    others = np.array([name in options.other_topics for name in names])
    flags = fixed["system_flags"][kept].astype(np.int64)
    needed = counting_rules.needs_unit(flags & TRANSACTION_BITS, flags & BATCH_BIT)
    needed &= ~others[numbers]
    offsets = columns.positions[kept] + base
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


@Accelerated
def sums_of_units(
    queue: tuple[str, int],
    queue_offsets: Ints,
    units: npt.NDArray[Any],
    *,
    options: SurveyOptions,
) -> QueueSummary:
    """Return the sums of some *units* of one queue."""
    at, sizes, codes = (
        units[name].astype(np.int64)
        for name in ("commit_log_offset", "size", "tags_code")
    )
    needed = counting_rules.needs_record(at, sizes, codes, options.min_offset)
    needed &= not is_lmq(queue)
    if options.parts is not None:
        needed &= (at < 0) | within(at, options.parts)
    groups = Groups(np.zeros(len(at), np.int64))
    identity = hash_of_longs(queue_offsets, at, sizes, codes)
    every = np.ones(len(at), np.bool_)
    (sums,) = _sums(groups, needed, every, identity, queue_offsets, sizes)
    return sums


def is_lmq(queue: tuple[str, int]) -> bool:
    """Return whether *queue* is an LMQ; its units point at records of other topics."""
    return queue[0].startswith(LMQ_PREFIX)


def _sums(
    groups: Groups,
    needed: Bools,
    ranged: Bools,
    identity: Ints,
    queue_offsets: Ints,
    sizes: Ints,
) -> Iterator[QueueSummary]:
    """Yield the sums of each group, for records and units alike."""
    columns = (
        groups.sizes,
        groups.counts(needed),
        groups.reduced(np.minimum, np.where(ranged, queue_offsets, INT64_MAX)),
        groups.reduced(np.maximum, np.where(ranged, queue_offsets, INT64_MIN)),
        groups.reduced(np.bitwise_xor, np.where(needed, identity, 0)),
        groups.reduced(np.add, np.where(needed, sizes, 0)),
    )
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield queue_summary(*row)
