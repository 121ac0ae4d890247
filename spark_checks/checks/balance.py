"""
Checks of system topics by the survey's ledger, without reading records again.

Every half message has an op message or is young. Each commit matches its half message.
Each delayed message is delivered once, and not early. A ledger that does not balance is
no finding: the records are read again. A check here may be too strict, and must never
be too lenient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spark_checks.broker_progress import BrokerProgress
from spark_checks.invariants.delays import EARLY_MAX_MS
from spark_checks.invariants.transactions import CHECKS_END_MS
from spark_checks.survey.ledger import Ledger
from spec.integers import INT64_MAX, INT64_MIN

Ints = npt.NDArray[np.int64]
Table = Mapping[str, Ints]
_NUMBER_BITS = 40
"""Bits of a queue offset in a combined key; the others are for the queue id."""


def transactions_balance(ledger: Ledger, progress: BrokerProgress) -> bool:
    """Return whether half messages, commits and op messages certainly match."""
    if ledger.is_incomplete:
        return False
    halves, commits, ops = map(ledger.table, ("halves", "commits", "ops"))
    place_of_half, place_of_op = _places(halves, ops)
    numbers, by_number = _sorted(place_of_half)
    offsets, by_offset = _sorted(halves["offset"])
    if _has_twice(numbers) or _has_twice(offsets):
        return False
    at = _found(numbers, by_number, place_of_op)
    if (at < 0).any() and not _are_older(halves, ops, at < 0, progress).all():
        return False
    has_op = at >= 0
    of_op, op_at = at[has_op], ops["offset"][has_op]
    if (op_at <= halves["offset"][of_op]).any():
        return False
    decided_at = np.full(len(halves["offset"]), np.iinfo(np.int64).max)
    np.minimum.at(decided_at, of_op, op_at)
    of = _found(offsets, by_offset, commits["half_at"])
    if (of < 0).any() or _has_twice(np.sort(of)):
        return False
    is_same = commits["message"] == halves["message"][of]
    is_same &= commits["key"] == halves["key"][of]
    if not (is_same & (commits["offset"] <= decided_at[of])).all():
        return False
    is_open = decided_at == np.iinfo(np.int64).max
    is_open[of] = False
    checked_offsets = _of_queue(progress.checked_offsets, halves["queue_id"], 0)
    is_late = halves["stored_at_ms"] + CHECKS_END_MS < progress.last_ms
    return not (is_open & (halves["number"] >= checked_offsets) & is_late).any()


def delays_balance(ledger: Ledger, progress: BrokerProgress) -> bool:
    """Return whether each delayed message certainly arrived once, and not early."""
    if ledger.is_incomplete:
        return False
    delayed, delivered = map(ledger.table, ("delayed", "delivered"))
    messages, order = _sorted(delayed["message"])
    if _has_twice(messages):
        return False
    at = _found(messages, order, delivered["message"])
    came = at >= 0  # others were committed, or delayed in a deleted file
    of, when, place = (
        at[came],
        delivered["stored_at_ms"][came],
        delivered["offset"][came],
    )
    if _has_twice(np.sort(of)) or (place <= delayed["offset"][of]).any():
        return False
    if (when + EARLY_MAX_MS < delayed["due_ms"][of]).any():
        return False
    is_open = np.ones(len(order), dtype=np.bool_)
    is_open[of] = False
    delivered_offsets = _of_queue(progress.delivered_offsets, delayed["queue_id"], 0)
    is_late = delayed["due_ms"] < progress.last_ms
    return not (is_open & (delayed["number"] < delivered_offsets) & is_late).any()


def send_backs_balance(ledger: Ledger, _progress: BrokerProgress) -> bool:
    """Return whether all send-backs and dead letters certainly name their origin."""
    return not ledger.is_incomplete and not ledger.bad_send_backs


Balance = Callable[[Ledger, BrokerProgress], bool]


def _places(*tables: Table) -> list[npt.NDArray[Any]]:
    """Return queue id and queue offset of each table's rows as one comparable key.

    A key that fits into one integer is fifty times as fast to sort.
    """
    columns = [(rows["queue_id"], rows["number"]) for rows in tables]
    if all(_fit(*both) for both in columns):
        return [queues << _NUMBER_BITS | numbers for queues, numbers in columns]
    return [_pairs(*both) for both in columns]


def _fit(queues: Ints, numbers: Ints) -> bool:
    """Return whether queue ids and queue offsets fit into 63 bits."""
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


def _found(ordered: npt.NDArray[Any], order: Ints, sought: npt.NDArray[Any]) -> Ints:
    """Return the index of each of *sought* before sorting, or -1."""
    if not len(ordered):
        return np.full(len(sought), -1)
    ascending = np.argsort(sought)  # ordered searches hit the cache
    at = np.empty(len(sought), dtype=np.int64)
    at[ascending] = np.searchsorted(ordered, sought[ascending])
    at = np.minimum(at, len(ordered) - 1)
    return np.where(ordered[at] == sought, order[at], -1)


def _are_older(
    halves: Table, ops: Table, which: npt.NDArray[np.bool_], progress: BrokerProgress
) -> npt.NDArray[np.bool_]:
    """Return the mask of ops that name half messages from before the log's begin.

    They are older than the first remaining half message of their queue.
    """
    first: dict[int, int] = {}
    for index in np.argsort(halves["offset"])[::-1].tolist():
        first[int(halves["queue_id"][index])] = int(halves["number"][index])
    none_left = 0 if progress.min_offset == 0 else np.iinfo(np.int64).max
    oldest = _of_queue(first, ops["queue_id"][which], none_left)
    found: npt.NDArray[np.bool_] = ops["number"][which] < oldest
    return found


def _of_queue(numbers: Mapping[int, int], queues: Ints, otherwise: int) -> Ints:
    """Return the number of each of *queues*, *otherwise* without one."""
    rows = [
        (queue, max(min(number, INT64_MAX), INT64_MIN))
        for queue, number in sorted(numbers.items())
        if INT64_MIN <= queue <= INT64_MAX  # a configuration may hold any integer
    ]
    known = np.array(rows, dtype=np.int64).reshape(-1, 2)
    if not len(known):
        return np.full(len(queues), otherwise)
    at = np.minimum(np.searchsorted(known[:, 0], queues), len(known) - 1)
    return np.where(known[at, 0] == queues, known[at, 1], otherwise)
