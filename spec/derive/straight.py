"""
The fastest reader and writer of a layout: the plan of its struct codec as source code.

The struct codec walks a plan, run by run. Here the same plan becomes one Python
function without loops and lookups, in which every value has a name. It checks the
same conditions of values; a value that does not fit is a misfit and goes to construct.
A plan with a part that struct alone cannot read, such as a constant or a number of 24
bits, has no such function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, Protocol


class MisfitError(Exception):
    """Data or values that only construct can check."""


class Run(Protocol):
    """The part of a plan's run that is read here."""

    @property
    def form(self) -> Struct:
        """Its fields of fixed size, and the size of what follows if it is prefixed."""

    @property
    def first(self) -> int:
        """Index of its first field in the values."""

    @property
    def count(self) -> int:
        """Number of its own fields."""

    @property
    def exact(self) -> tuple[tuple[int, int], ...]:
        """Indexes and sizes of its byte fields."""

    @property
    def prefixed(self) -> bool:
        """Whether the size of a field that follows ends it."""

    @property
    def is_beyond_struct(self) -> bool:
        """Whether struct alone cannot read it."""


Read = Callable[[Any, int], tuple[tuple[Any, ...], int]]
Write = Callable[[Sequence[Any]], bytes]


def straight(plan: Sequence[Run]) -> tuple[Read, Write] | None:
    """Return the functions that read and write by *plan*, or None without them."""
    if not plan or any(run.is_beyond_struct for run in plan):
        return None
    names: dict[str, Any] = {"Misfit": MisfitError}
    for number, run in enumerate(plan):
        names[f"pack{number}"] = run.form.pack
        names[f"unpack{number}"] = run.form.unpack_from
    source = "\n".join([*_reader(plan), *_writer(plan)])
    exec(source, names)  # noqa: S102 - the text is made above, of names and numbers
    return names["read"], names["write"]


def _reader(plan: Sequence[Run]) -> Iterator[str]:
    values: list[str] = []
    yield "def read(data, at):"
    for number, run in enumerate(plan):
        own = [f"v{run.first + index}" for index in range(run.count)]
        sized = [*own, "size"] if run.prefixed else own
        yield f" {', '.join(sized)}, = unpack{number}(data, at)"
        yield f" at += {run.form.size}"
        values += own
        if run.prefixed:
            blob = f"v{run.first + run.count}"
            yield " end = at + size"
            yield " if size < 0 or end > len(data): raise Misfit"
            yield f" {blob} = bytes(data[at:end])"
            yield " at = end"
            values.append(blob)
    yield f" return ({', '.join(values)},), at"


def _writer(plan: Sequence[Run]) -> Iterator[str]:
    total = sum(run.count + run.prefixed for run in plan)
    values = [f"v{index}" for index in range(total)]
    parts: list[str] = []
    yield "def write(values):"
    yield f" {', '.join(values)}, = values"
    for number, run in enumerate(plan):
        own = values[run.first : run.first + run.count]
        for index, size in run.exact:
            yield f" if len(v{index}) != {size}: raise Misfit"
        if run.prefixed:
            blob = f"v{run.first + run.count}"
            yield f" if type({blob}) is not bytes: raise Misfit"
            parts += [f"pack{number}({', '.join([*own, f'len({blob})'])})", blob]
        else:
            parts.append(f"pack{number}({', '.join(own)})")
    whole = f'b"".join(({", ".join(parts)},))' if len(parts) > 1 else parts[0]
    yield f" return {whole}"
