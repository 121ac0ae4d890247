"""
The batch view of a layout: a plan to read many values of one layout column by column.

A numpy reader takes the same field of thousands of records in one operation if it has
the field's position. A layout is a sequence of runs. A run has fields of fixed size,
then at most one field of variable size that moves all later fields. Each outcome of a
layout's choices has a plan of its own. The module does not import numpy: its result is
plain data, as in `spec.derive.numpy_dtype`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from construct import Bytes, FormatField, Prefixed, Struct

from spec.derive.numpy_dtype import PlacedField, leading_fields, numpy_format
from spec.derive.walk import (
    UnsuitableLayoutError,
    View,
    leaves,
    names_that_choices_read,
)

PLANS_MAX = 1024
"""Cached outcomes; their number is limited, because peers choose the values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchRun:
    """Fields of fixed size, the first at the run's begin, and what follows them.

    Of equal runs of a layout there is one, so that to compare plans takes no time.
    """

    fields: tuple[PlacedField, ...]
    size: int
    """Bytes of the fields together."""
    sized: str = ""
    """The field that follows, if one does; its size is the last of the fields."""


BatchPlan = tuple[BatchRun, ...]


class BatchPlans:
    """The plans of one layout."""

    def __init__(self, layout: Struct) -> None:
        names = names_that_choices_read(layout)
        self.layout = layout
        self.deciding: tuple[PlacedField, ...] = tuple(
            placed for placed in leading_fields(layout) if placed.name in names
        )
        """The fields on which choices depend; they precede every choice."""
        if len(self.deciding) != len(names):
            raise UnsuitableLayoutError("a choice looks behind a choice")
        self._plans: dict[tuple[int, ...], BatchPlan] = {}
        self._runs: dict[tuple[object, ...], BatchRun] = {}

    def plan(self, values: tuple[int, ...]) -> BatchPlan:
        """Return the plan for things whose deciding fields hold *values*."""
        plan = self._plans.get(values)
        if plan is None:
            names = (placed.name for placed in self.deciding)
            known = dict(zip(names, values, strict=True))
            runs = _runs(leaves(self.layout, View(known.__getitem__)))
            plan = tuple(map(self._known, runs))
            if len(self._plans) >= PLANS_MAX:
                self._plans.clear()
            self._plans[values] = plan
        return plan

    def _known(self, run: BatchRun) -> BatchRun:
        """Return the run that is equal to *run* and was known before, if one was."""
        return self._runs.setdefault((run.fields, run.size, run.sized), run)


def batch_plans(layout: Struct) -> BatchPlans:
    """Return the plans to read many values of *layout* column by column."""
    return BatchPlans(layout)


def _runs(fields: Iterator[tuple[str, Any]]) -> Iterator[BatchRun]:
    placed: list[PlacedField] = []
    for dotted, part in fields:
        name = dotted.replace(".", "_")
        if isinstance(part, Prefixed):
            placed.append(_place(f"{name}_size", part.lengthfield, _size_of(placed)))
            yield BatchRun(fields=tuple(placed), size=_size_of(placed), sized=name)
            placed = []
        else:
            placed.append(_place(name, part, _size_of(placed)))
    if placed:
        yield BatchRun(fields=tuple(placed), size=_size_of(placed))


def _size_of(placed: list[PlacedField]) -> int:
    return placed[-1].offset + placed[-1].size if placed else 0


def _place(name: str, part: Any, offset: int) -> PlacedField:
    is_blob = isinstance(part, Bytes) and not callable(part.length)
    if not is_blob and not isinstance(part, FormatField):
        raise UnsuitableLayoutError(f"{name}: no number and no blob of fixed size")
    size = int(part.sizeof())
    return PlacedField(
        name=name, offset=offset, size=size, format=numpy_format(part, size)
    )
