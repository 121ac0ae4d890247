"""
The sums of a survey: records and units of a queue, boiled down where they are read.

Both sides of a queue have a count, a range and a hash that does not depend on order.
They are made here for thousands of rows at once, so that Spark adds up a few sums
instead of millions of rows. Which rows count is what :mod:`spark_checks.tables` says of
rows that Spark reads; a test holds both to the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints
from spark_checks.sources.record_columns import Delays, RecordColumns
from spark_checks.sources.record_keys import Ranges
from spark_checks.sources.spark_hash import hash_of_longs
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
    ranges: Ranges = ()
    """Of the records in these, the keys are summed up."""
    is_aside_wanted: bool = True
    """Whether records that were set aside are rows."""


class Groups:
    """Rows that are reduced to one row for each of their *keys*, of which one is."""

    def __init__(self, keys: Ints) -> None:
        self._order = np.argsort(keys, kind="stable")
        ordered = keys[self._order]
        changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        self._begins = np.concatenate([np.zeros(1, np.int64), changes])
        self.examples: Ints = self._order[self._begins]
        """The index of a row of each group."""

    def reduced(self, operation: np.ufunc, values: npt.NDArray[Any]) -> Ints:
        """Return what *operation* makes of the *values* of each group."""
        found: Ints = operation.reduceat(values[self._order], self._begins)
        return found

    def counts(self, which: Bools) -> Ints:
        """Return how many rows of each group are of *which*."""
        return self.reduced(np.add, which.astype(np.int64))


def sums_of_records(
    columns: RecordColumns, kept: Ints, *, base: int, asked: Asked
) -> dict[str, Any]:
    """Return the sums of the *kept* ones of records of the file at *base*, by queue."""
    fixed = {name: column[kept] for name, column in columns.fixed.items()}
    offsets = fixed["position"] + base
    sizes = fixed["size"].astype(np.int64)
    names, numbers = _numbered([columns.topics[index] for index in kept.tolist()])
    queue_ids = fixed["queue_id"].astype(np.int64)
    groups = Groups((numbers << 32) + (queue_ids & 0xFFFFFFFF))
    flags = fixed["system_flags"].astype(np.int64)
    others = np.array([name in asked.other_topics for name in names])
    needed = needs_unit(flags) & ~others[numbers]
    queue_offsets = fixed["queue_offset"].astype(np.int64)
    identity = hash_of_longs(queue_offsets, offsets, sizes, columns.tags_codes[kept])
    count = len(groups.examples)
    return {
        "side": ["log"] * count,
        "kind": ["record"] * count,
        "topic": [names[number] for number in numbers[groups.examples].tolist()],
        "queue_id": queue_ids[groups.examples],
        **_measures(groups, needed, needed, identity, queue_offsets, sizes),
        "bad_checksums": groups.counts(fixed["body_crc"] != columns.body_crcs[kept]),
        "bad_places": groups.counts(fixed["physical_offset"] != offsets),
        "flawed": groups.counts(columns.flaws[kept] != 0),
        "commits": groups.counts(
            flags & _TRANSACTION == int(SystemFlag.TRANSACTION_COMMIT)
        ),
        "end": groups.reduced(np.maximum, offsets + sizes),
        "last_ms": groups.reduced(np.maximum, fixed["stored_at_ms"].astype(np.int64)),
        "first_file": np.full(count, base),
        "last_file": np.full(count, base),
    }


def sums_of_units(
    queue: tuple[str, int],
    queue_offsets: Ints,
    units: npt.NDArray[Any],
    *,
    asked: Asked,
) -> dict[str, Any]:
    """Return the sums of some *units* of one queue."""
    at, sizes, codes = (
        units[name].astype(np.int64)
        for name in ("commit_log_offset", "size", "tags_code")
    )
    needed = needs_record(at, sizes, codes, min_offset=asked.min_offset)
    needed &= not queue[0].startswith(LIGHT_QUEUE_PREFIX)
    groups = Groups(np.zeros(len(at), np.int64))
    identity = hash_of_longs(queue_offsets, at, sizes, codes)
    every = np.ones(len(at), np.bool_)
    return {
        "side": ["queue"],
        "kind": ["unit"],
        "topic": [queue[0]],
        "queue_id": np.array([queue[1]]),
        **_measures(groups, needed, every, identity, queue_offsets, sizes),
    }


def needs_unit(flags: Ints) -> Bools:
    """Return which records, by their system *flags*, must have a unit."""
    transaction = flags & _TRANSACTION
    half = transaction == int(SystemFlag.TRANSACTION_PREPARED)
    found: Bools = ~half & (transaction != _TRANSACTION) & (flags & INNER_BATCH == 0)
    return found


def needs_record(at: Ints, sizes: Ints, codes: Ints, *, min_offset: int) -> Bools:
    """Return which units must point at a record: no fillers, none of deleted files."""
    filler = (at == 0) & (sizes == INT32_MAX) & (codes == 0)
    found: Bools = ~filler & ((at >= min_offset) | (at < 0))
    return found


def _measures(
    groups: Groups,
    needed: Bools,
    ranged: Bools,
    identity: Ints,
    queue_offsets: Ints,
    sizes: Ints,
) -> Mapping[str, Any]:
    """Return what both sides count alike; a range of nothing has no ends."""
    least = groups.reduced(np.minimum, np.where(ranged, queue_offsets, INT64_MAX))
    most = groups.reduced(np.maximum, np.where(ranged, queue_offsets, INT64_MIN))
    is_empty = groups.counts(ranged) == 0
    return {
        "rows": groups.counts(np.ones(len(needed), np.bool_)),
        "matched": groups.counts(needed),
        "first": np.ma.array(least, mask=is_empty),
        "last": np.ma.array(most, mask=is_empty),
        "hash": groups.reduced(np.bitwise_xor, np.where(needed, identity, 0)),
        "bytes": groups.reduced(np.add, np.where(needed, sizes, 0)),
    }


def _numbered(topics: list[bytes]) -> tuple[list[str], Ints]:
    """Return the different *topics* as text, and the number of each record's."""
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(topic, len(numbers)) for topic in topics]
    texts = [topic.decode("utf-8", "replace") for topic in numbers]
    return texts, np.array(found, dtype=np.int64)
