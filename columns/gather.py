"""
Fields of many records, gathered by the plans of :mod:`spec.derive.batch_plan`.

The caller passes begin and end of the records. Numbers are gathered for all records in
one step. A byte field stays in place, and its column holds the place. Nothing is
trusted before it is checked. A record whose fields end elsewhere is marked, and no byte
behind a record is read as its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from construct import Struct

from spec.derive.batch_plan import BatchPlan, BatchPlans, BatchRun
from spec.derive.numpy_dtype import PlacedField, leading_fields

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Places: TypeAlias = tuple[Ints, Ints]
"""Begins and sizes of byte fields."""
LOOKED_FOR_MAX = 8
"""Distinct rows to search one by one; more are rare."""
NOWHERE = -1
"""End of a record with a field that reaches past the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldColumns:
    """Equally long columns, one entry per record."""

    numbers: Mapping[str, npt.NDArray[Any]]
    """Numbers by name, each in an integer type that holds all values."""
    places: Mapping[str, Places]
    """Places of the byte fields, by name."""
    ends: Ints
    """End of the last field; NOWHERE if a field does not fit into its record."""

    def first(self, count: int) -> FieldColumns:
        """Return the first *count* records."""
        return FieldColumns(
            numbers={name: column[:count] for name, column in self.numbers.items()},
            places={
                name: (begins[:count], sizes[:count])
                for name, (begins, sizes) in self.places.items()
            },
            ends=self.ends[:count],
        )


def gather(data: bytes, starts: Ints, limits: Ints, plans: BatchPlans) -> FieldColumns:
    """Return the fields of the records at *starts*, which must not pass *limits*."""
    groups = _groups(data, starts, plans)
    if len(groups) == 1:
        return _gather_alike(data, starts, limits, groups[0][0])
    parts = [(at, _gather_alike(data, starts[at], limits[at], p)) for p, at in groups]
    return _scattered(parts, len(starts))


def _numbers_at(data: bytes, starts: Ints, placed: PlacedField) -> Ints:
    """Return the number *placed* of each record at *starts*."""
    if not len(starts):
        return starts
    count = len(data) - placed.offset - placed.size + 1
    view: npt.NDArray[Any] = np.ndarray(
        (count,), placed.format, data, placed.offset, (1,)
    )
    return view[starts].astype(np.int64)


def values_of(data: bytes, places: Places) -> Iterator[bytes]:
    """Yield the bytes at each of *places* in *data*."""
    begins, sizes = places
    for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True):
        yield data[begin:end]


def _groups(
    data: bytes, starts: Ints, plans: BatchPlans
) -> list[tuple[BatchPlan, Ints]]:
    """Return the required plans, and the indices of the records of each."""
    every = np.arange(len(starts))
    if not len(starts):
        return [(plans.plan((0,) * len(plans.deciding)), every)]
    columns = [_numbers_at(data, starts, placed) for placed in plans.deciding]
    distinct, which = _distinct(columns)
    chosen = [plans.plan(values) for values in distinct]
    numbers = {plan: number for number, plan in enumerate(dict.fromkeys(chosen))}
    if len(numbers) == 1:
        return [(chosen[0], every)]
    of_record = np.array([numbers[plan] for plan in chosen])[which]
    return [(plan, np.flatnonzero(of_record == n)) for plan, n in numbers.items()]


def _distinct(columns: list[Ints]) -> tuple[list[tuple[int, ...]], Ints]:
    """Return the distinct rows of *columns*, and the number of each row among them."""
    which = np.zeros(len(columns[0]), dtype=np.int64)
    found: list[tuple[int, ...]] = []
    left = np.arange(len(which))
    while len(left) and len(found) < LOOKED_FOR_MAX:
        values = tuple(int(column[0]) for column in columns)
        pairs = zip(columns, values, strict=True)
        others = reduce(np.logical_or, (column != value for column, value in pairs))
        found.append(values)
        rest = np.flatnonzero(others)
        left, columns = left[rest], [column[rest] for column in columns]
        which[left] = len(found)
    if len(left):  # so many that sorting them is faster
        distinct, numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)
        which[left] = numbers.reshape(-1) + len(found)
        found += map(tuple, distinct.T.tolist())
    return found, which


def _gather_alike(
    data: bytes, starts: Ints, limits: Ints, plan: BatchPlan
) -> FieldColumns:
    """Return the fields of records with one plan."""
    numbers: dict[str, npt.NDArray[Any]] = {}
    places: dict[str, Places] = {}
    at, fits = starts, np.ones(len(starts), dtype=np.bool_)
    for run in plan:
        fits &= at + run.size <= limits
        at = at if fits.all() else np.where(fits, at, 0)
        rows = _rows(data, at, run)
        for placed in run.fields:
            column = rows[placed.name]
            if column.dtype.kind == "V":
                size = np.full(len(at), placed.size, dtype=np.int64)
                places[placed.name] = (at + placed.offset, size)
            else:
                numbers[placed.name] = column.astype(column.dtype.newbyteorder("="))
        at = at + run.size
        if run.sized:
            size = numbers[run.fields[-1].name].astype(np.int64)
            places[run.sized] = (at, size)
            fits &= (size >= 0) & (at + size <= limits)
            at = at + size
    ends = at if fits.all() else np.where(fits, at, NOWHERE)
    return FieldColumns(numbers=numbers, places=places, ends=ends)


def _rows(data: bytes, at: Ints, run: BatchRun) -> npt.NDArray[Any]:
    """Return the bytes of *run* at each place, as rows with named fields.

    Numpy copies opaque rows ten times as fast as named fields. Rows are therefore named
    only after they are gathered.
    """
    if len(data) < run.size:
        data = bytes(data).ljust(run.size, b"\0")
    opaque: npt.NDArray[Any] = np.ndarray(
        (len(data) - run.size + 1,), f"V{run.size}", data, 0, (1,)
    )
    return opaque[at].view(_dtype(run))


def dtype_of(layout: Struct) -> np.dtype[Any]:
    """Return the dtype of *layout*, all of whose fields are of fixed size."""
    fields = leading_fields(layout)
    return np.dtype([(placed.name, placed.format) for placed in fields])


@cache
def _dtype(run: BatchRun) -> np.dtype[Any]:
    return np.dtype([(placed.name, placed.format) for placed in run.fields])


def _scattered(parts: list[tuple[Ints, FieldColumns]], count: int) -> FieldColumns:
    """Return the columns of *parts*, each record at its former index."""
    _, one = parts[0]

    def joined(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        whole = np.empty(count, dtype=np.result_type(*columns))
        for (at, _), column in zip(parts, columns, strict=True):
            whole[at] = column
        return whole

    return FieldColumns(
        numbers={
            name: joined([part.numbers[name] for _, part in parts])
            for name in one.numbers
        },
        places={
            name: (
                joined([part.places[name][0] for _, part in parts]),
                joined([part.places[name][1] for _, part in parts]),
            )
            for name in one.places
        },
        ends=joined([part.ends for _, part in parts]),
    )
