"""
Whether what was set aside balances: what a ledger can answer without the records.

Every half message is noted or still young, each commit is its half message's, each
delayed message arrived once and not too early. A ledger that cannot say so has found
nothing yet: the records are read again, and the invariants say what is wrong, if it is.
So each question here may be asked too strictly, and never too loosely.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spark_checks.invariants.delays import EARLY_MAX_MS
from spark_checks.invariants.transactions import CHECKS_TAKE_MS
from spark_checks.sources.ledger import Ledger
from spec.integers import INT64_MAX, INT64_MIN

Ints = npt.NDArray[np.int64]
Table = Mapping[str, Ints]
_NUMBER_BITS = 40
"""Of a queue offset, where one fits; what is left is for the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a broker has come, besides what its records say."""

    min_offset: int
    """First commit-log offset that is still there."""
    last_ms: int
    """When the last record of the log was stored."""
    delivered: Mapping[int, int]
    """Queue offset up to which each queue of delayed messages is delivered."""
    looked: Mapping[int, int]
    """Queue offset up to which each queue of half messages is done with."""


def transactions_balance(ledger: Ledger, progress: Progress) -> bool:
    """Return whether half messages, commits and notes surely belong together."""
    if ledger.is_odd:
        return False
    halves, commits, notes = map(ledger.table, ("halves", "commits", "notes"))
    place_of_half, place_of_note = _places(halves, notes)
    numbers, by_number = _sorted(place_of_half)
    offsets, by_offset = _sorted(halves["offset"])
    if _has_twice(numbers) or _has_twice(offsets):
        return False
    at = _found(numbers, by_number, place_of_note)
    if (at < 0).any() and not _are_older(halves, notes, at < 0, progress).all():
        return False
    is_noted = at >= 0
    of_note, note_at = at[is_noted], notes["offset"][is_noted]
    if (note_at <= halves["offset"][of_note]).any():
        return False
    decided_at = np.full(len(halves["offset"]), np.iinfo(np.int64).max)
    np.minimum.at(decided_at, of_note, note_at)
    of = _found(offsets, by_offset, commits["half_at"])
    if (of < 0).any() or _has_twice(np.sort(of)):
        return False
    is_same = commits["message"] == halves["message"][of]
    is_same &= commits["key"] == halves["key"][of]
    if not (is_same & (commits["offset"] <= decided_at[of])).all():
        return False
    is_open = decided_at == np.iinfo(np.int64).max
    is_open[of] = False
    looked = _of_queue(progress.looked, halves["queue_id"], 0)
    is_late = halves["stored_at_ms"] + CHECKS_TAKE_MS < progress.last_ms
    return not (is_open & (halves["number"] >= looked) & is_late).any()


def delays_balance(ledger: Ledger, progress: Progress) -> bool:
    """Return whether delayed messages surely arrived once, and in time."""
    if ledger.is_odd:
        return False
    waiting, arrived = map(ledger.table, ("waiting", "arrived"))
    messages, order = _sorted(waiting["message"])
    if _has_twice(messages):
        return False
    at = _found(messages, order, arrived["message"])
    came = at >= 0  # what never waited was committed, or waited in a part that is gone
    of, when, place = at[came], arrived["stored_at_ms"][came], arrived["offset"][came]
    if _has_twice(np.sort(of)) or (place <= waiting["offset"][of]).any():
        return False
    if (when + EARLY_MAX_MS < waiting["due_ms"][of]).any():
        return False
    is_open = np.ones(len(order), dtype=np.bool_)
    is_open[of] = False
    delivered = _of_queue(progress.delivered, waiting["queue_id"], 0)
    is_late = waiting["due_ms"] < progress.last_ms
    return not (is_open & (waiting["number"] < delivered) & is_late).any()


def returns_balance(ledger: Ledger, _progress: Progress) -> bool:
    """Return whether what was handed back, or given up, surely says of what."""
    return not ledger.is_odd and not ledger.bad_returns


Balance = Callable[[Ledger, Progress], bool]


def _places(*tables: Table) -> list[npt.NDArray[Any]]:
    """Return queue and number of the rows of each table, as one that can be compared.

    As one number that is fifty times as fast.
    """
    columns = [(rows["queue_id"], rows["number"]) for rows in tables]
    if all(_fit(*both) for both in columns):
        return [queues << _NUMBER_BITS | numbers for queues, numbers in columns]
    return [_pairs(*both) for both in columns]


def _fit(queues: Ints, numbers: Ints) -> bool:
    """Return whether all of a queue and a number fits into 63 bits."""
    limits = ((queues, 1 << 63 - _NUMBER_BITS), (numbers, 1 << _NUMBER_BITS))
    return all(
        not len(column) or (column.min() >= 0 and column.max() < limit)
        for column, limit in limits
    )


def _pairs(queues: Ints, numbers: Ints) -> npt.NDArray[Any]:
    both = np.empty(len(numbers), dtype=[("queue", "i8"), ("number", "i8")])
    both["queue"], both["number"] = queues, numbers
    return both


def _sorted(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Ints]:
    order = np.argsort(values)
    return values[order], order


def _has_twice(ordered: npt.NDArray[Any]) -> bool:
    return bool((ordered[1:] == ordered[:-1]).any())


def _found(ordered: npt.NDArray[Any], order: Ints, wanted: npt.NDArray[Any]) -> Ints:
    """Return the index at which each of *wanted* was before sorting, or -1."""
    if not len(ordered):
        return np.full(len(wanted), -1)
    ascending = np.argsort(wanted)  # who looks in order looks near what he has seen
    at = np.empty(len(wanted), dtype=np.int64)
    at[ascending] = np.searchsorted(ordered, wanted[ascending])
    at = np.minimum(at, len(ordered) - 1)
    return np.where(ordered[at] == wanted, order[at], -1)


def _are_older(
    halves: Table, notes: Table, which: npt.NDArray[np.bool_], progress: Progress
) -> npt.NDArray[np.bool_]:
    """Return which notes name half messages from before the log begins.

    They are older than the first half message of their queue that is there.
    """
    first: dict[int, int] = {}
    for index in np.argsort(halves["offset"])[::-1].tolist():
        first[int(halves["queue_id"][index])] = int(halves["number"][index])
    none_left = 0 if progress.min_offset == 0 else np.iinfo(np.int64).max
    oldest = _of_queue(first, notes["queue_id"][which], none_left)
    found: npt.NDArray[np.bool_] = notes["number"][which] < oldest
    return found


def _of_queue(numbers: Mapping[int, int], queues: Ints, otherwise: int) -> Ints:
    """Return the number of each of *queues*."""
    rows = [
        (queue, max(min(number, INT64_MAX), INT64_MIN))
        for queue, number in sorted(numbers.items())
        if INT64_MIN <= queue <= INT64_MAX  # as a configuration may not
    ]
    known = np.array(rows, dtype=np.int64).reshape(-1, 2)
    if not len(known):
        return np.full(len(queues), otherwise)
    at = np.minimum(np.searchsorted(known[:, 0], queues), len(known) - 1)
    return np.where(known[at, 0] == queues, known[at, 1], otherwise)
