"""
Kernel that gathers fields of records by a plan; see :mod:`columns.gather`.

The plan becomes two tables of numbers. A record whose fields do not fit has the same
entries as from the fallback.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from columns.gather import NOWHERE, FieldColumns, Ints
from spark_checks.kernels.memory import (
    BIG_ENDIAN,
    DATA,
    INNER,
    INTS,
    LINE,
    OPTIONS,
    fetch_ahead,
)
from spec.derive.batch_plan import BatchPlan

_AHEAD = 8
"""Records to prefetch."""
_TABLE = types.Array(types.int64, 2, "C")
_of_1, _of_2, _of_4, _of_8 = (BIG_ENDIAN[size] for size in (1, 2, 4, 8))


class _Tables(NamedTuple):
    """A plan as numbers; rows are those of the resulting columns."""

    runs: Ints
    """First field, end field, size, and row of the sized bytes that follow, or -1."""
    fields: Ints
    """Offset, size, row, and kind: 0 bytes, 1 unsigned, 2 signed."""
    numbers: tuple[str, ...]
    places: tuple[str, ...]


@cache
def _tables(plan: BatchPlan) -> _Tables:
    runs: list[tuple[int, ...]] = []
    fields: list[tuple[int, ...]] = []
    numbers: list[str] = []
    places: list[str] = []
    for run in plan:
        begin = len(fields)
        for placed in run.fields:
            kind = {"V": 0, "u": 1, "i": 2}[np.dtype(placed.format).kind]
            names = numbers if kind else places
            fields.append((placed.offset, placed.size, len(names), kind))
            names.append(placed.name)
        row = len(places) if run.sized else -1
        runs.append((begin, len(fields), run.size, row))
        places += [run.sized] if run.sized else []
    return _Tables(
        runs=np.array(runs),
        fields=np.array(fields),
        numbers=tuple(numbers),
        places=tuple(places),
    )


def gather_alike(
    data: bytes, starts: Ints, limits: Ints, plan: BatchPlan
) -> FieldColumns:
    """Return the fields of records with one plan."""
    tables = _tables(plan)
    count = len(starts)
    if len(data) < max(run.size for run in plan):
        data = bytes(data).ljust(max(run.size for run in plan), b"\0")
    numbers = np.empty((len(tables.numbers), count), dtype=np.int64)
    places = np.empty((len(tables.places), 2, count), dtype=np.int64)
    ends = np.empty(count, dtype=np.int64)
    _gather(
        np.frombuffer(data, dtype=np.uint8),
        np.ascontiguousarray(starts),
        np.ascontiguousarray(limits),
        (tables.runs, tables.fields),
        numbers,
        places,
        ends,
    )
    return FieldColumns(
        numbers=dict(zip(tables.numbers, numbers, strict=True)),
        places={
            name: (begins, sizes)
            for name, (begins, sizes) in zip(tables.places, places, strict=True)
        },
        ends=ends,
    )


@njit(types.int64(DATA, types.int64, types.int64, types.int64), **INNER)
def _number(data, at, size, kind):
    """Return the number of *size* bytes at *at*, signed if *kind* is 2."""
    if size == 4:
        value = _of_4(data, at)
        return value if kind == 2 else value & 0xFFFFFFFF
    if size == 8:
        return _of_8(data, at)
    if size == 2:
        value = _of_2(data, at)
        return value if kind == 2 else value & 0xFFFF
    value = _of_1(data, at)
    return value if kind == 2 else value & 0xFF


@njit(
    types.void(
        DATA,
        INTS,
        INTS,
        types.UniTuple(_TABLE, 2),
        _TABLE,
        types.Array(types.int64, 3, "C"),
        INTS,
    ),
    **OPTIONS,
)
def _gather(  # one loop: calls cost time
    data, starts, limits, tables, numbers, places, ends
):
    runs, fields = tables
    for record in range(len(starts)):
        soon = record + _AHEAD
        if soon < len(starts):
            fetch_ahead(data, starts[soon])
            fetch_ahead(data, starts[soon] + LINE)
            for line in range(4):
                fetch_ahead(data, limits[soon] - line * LINE)
        at, limit = starts[record], limits[record]
        fits: Any = True
        for run in range(len(runs)):
            fits = fits and at + runs[run, 2] <= limit
            if not fits:
                at = 0
            value = np.int64(0)
            for field in range(runs[run, 0], runs[run, 1]):
                place, size = at + fields[field, 0], fields[field, 1]
                row, kind = fields[field, 2], fields[field, 3]
                if kind:
                    value = _number(data, place, size, kind)
                    numbers[row, record] = value
                else:
                    places[row, 0, record] = place
                    places[row, 1, record] = size
            at += runs[run, 2]
            row = runs[run, 3]
            if row >= 0:
                places[row, 0, record] = at
                places[row, 1, record] = value
                fits = fits and value >= 0 and at + value <= limit
                at += value
        ends[record] = at if fits else NOWHERE
