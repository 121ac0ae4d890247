"""
The fast view of a layout: adjacent fields of fixed size become one struct.Struct.

construct reads a field at a time, which is clear and slow. This reader walks the same
declaration once, joins the fields that are always adjacent, and reads each run in one
call. A layout with a choice (a record's hosts are wide or narrow) has one plan for
each value of the choice. Bytes and values that a plan cannot handle go to construct,
which alone makes errors, so the two agree on them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from construct import Bytes, BytesInteger, Const, FormatField, Prefixed, Struct
from construct.expr import BinExpr

from spec.derive.straight import MisfitError, Read, Write, straight
from spec.derive.walk import (
    UnsuitableLayoutError,
    View,
    leaves,
    names_that_choices_read,
)
from spec.layout import LayoutError, Trace, build, parse

Values = tuple[Any, ...]
Data = bytes | bytearray | memoryview
Size = Callable[[Sequence[Any]], int]

PLANS_MAX = 1024
"""Cached plans; limited, because peers choose the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Fields of fixed size, then at most one field that has a size of its own."""

    form: struct.Struct
    first: int
    """Index of the first field in the values."""
    count: int
    """Fields of the run itself."""
    integers: tuple[int, ...] = ()
    """Indexes of integers that the struct module reads as bytes: those of 24 bits."""
    exact: tuple[tuple[int, int], ...] = ()
    """Indexes and sizes of byte fields; struct would pad them without a word."""
    constants: tuple[tuple[int, object], ...] = ()
    prefixed: bool = False
    """Whether the run ends with the size of a field that follows it."""
    size: Size | None = None
    """The size of the field that follows, computed from the values before."""
    is_beyond_struct: bool = False
    """Whether struct alone cannot read the run."""


class StructCodec:
    """Reads and writes what one layout describes, as a flat tuple of values."""

    def __init__(self, layout: Struct, compiled_for: Sequence[Values] = ()) -> None:
        self.layout = layout
        self.names: tuple[str, ...] = tuple(
            name for name, _ in leaves(layout, View(lambda _: 0))
        )
        """Dotted names of the fields, in the order of the values."""
        chosen_by = names_that_choices_read(layout)
        self._deciding = [i for i, n in enumerate(self.names) if n in chosen_by]
        self._key = _key_form(layout, [self.names[i] for i in self._deciding])
        self._pick = _picking(self._deciding)
        self._count = len(self.names)
        self._plans: dict[Values, tuple[Read, Write]] = {}
        self._compiled = {
            _shape(plan): straight(plan) for plan in map(self.plan, compiled_for)
        }

    def decode(self, data: Data, offset: int = 0) -> Values:
        """Return the values at *offset*, and ignore later bytes."""
        return self.decode_from(data, offset)[0]

    def decode_from(self, data: Data, offset: int = 0) -> tuple[Values, int]:
        """Return the values at *offset* and the offset after them."""
        if offset < 0:
            raise LayoutError(f"{offset} is not an offset")
        try:
            key = self._key.unpack_from(data, offset)
            return (self._plans.get(key) or self._plan(key))[0](data, offset)
        except (struct.error, MisfitError):
            return self._decode_with_construct(data, offset)

    def encode(self, values: Sequence[Any]) -> bytes:
        """Return the bytes of *values*, given in the order of the names."""
        if len(values) != self._count:
            reason = f"{len(values)} values for {self._count} fields"
            raise LayoutError(reason)
        try:
            key = self._pick(values)
            return (self._plans.get(key) or self._plan(key))[1](values)
        except (struct.error, MisfitError, TypeError):
            return build(self.layout, self.as_mapping(values))

    def as_mapping(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return *values* by name, nested as construct nests them."""
        found: dict[str, Any] = {}
        for name, value in zip(self.names, values, strict=True):
            *outer, last = name.split(".")
            inner = found
            for part in outer:
                inner = inner.setdefault(part, {})
            inner[last] = value
        return found

    def _decode_with_construct(self, data: Data, offset: int) -> tuple[Values, int]:
        trace = Trace()
        parsed = parse(self.layout, data[offset:], trace)
        values = []
        for name in self.names:
            value = parsed
            for part in name.split("."):
                value = value[part]
            values.append(value)
        return tuple(values), offset + max(span.end for span in trace)

    def plan(self, key: Values) -> list[_Run]:
        """Return the runs of the layout for the choice values *key*."""
        deciding = (self.names[i] for i in self._deciding)
        known = dict(zip(deciding, key, strict=True))
        return list(_runs(list(leaves(self.layout, View(known.__getitem__)))))

    def _plan(self, key: Values) -> tuple[Read, Write]:
        """Return the cached reader and writer for the choice values *key*."""
        plan = self.plan(key)
        walked = partial(_read, plan), partial(_write, plan)
        found = self._compiled.get(_shape(plan)) or walked
        if len(self._plans) >= PLANS_MAX:
            self._plans.clear()
        self._plans[key] = found
        return found


def compile_codec(
    layout: Struct, *, compiled_for: Sequence[Values] = ()
) -> StructCodec:
    """Return the fast reader and writer of *layout*.

    The plans of the choice values in *compiled_for* are compiled. Others are walked,
    because compilation takes time and memory, and peers choose the values.
    """
    return StructCodec(layout, compiled_for)


def _picking(places: Sequence[int]) -> Callable[[Sequence[Any]], Values]:
    """Return a function that selects the values at *places*, as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[i] for i in places])


def _shape(plan: Sequence[_Run]) -> Values:
    """Return the common part of plans that read and write alike."""
    return tuple(
        (
            run.form.format,
            run.first,
            run.count,
            run.exact,
            run.prefixed,
            run.is_beyond_struct,
        )
        for run in plan
    )


def _read(plan: list[_Run], data: Data, offset: int) -> tuple[Values, int]:
    values: list[Any] = []
    for run in plan:
        values += run.form.unpack_from(data, offset)
        offset += run.form.size
        size = values.pop() if run.prefixed else None
        if run.is_beyond_struct:
            computed = _computed_value(run, values)
            size = computed if size is None else size
        if size is None:
            continue
        after = offset + size
        if size < 0 or after > len(data):
            raise MisfitError
        values.append(bytes(data[offset:after]))
        offset = after
    return tuple(values), offset


def _computed_value(run: _Run, values: list[Any]) -> int | None:
    """Do for *run* what struct cannot; return the size of what follows it, if any."""
    for i in run.integers:
        values[i] = int.from_bytes(values[i], "big")
    for i, wanted in run.constants:
        if values[i] != wanted:
            raise MisfitError
    return run.size(values) if run.size else None


def _write(plan: list[_Run], values: Sequence[Any]) -> bytes:
    parts: list[bytes] = []
    for run in plan:
        found = list(values[run.first : run.first + run.count])
        if run.is_beyond_struct or run.exact:
            _refuse_misfits(run, found, values)
        if not run.prefixed and not run.size:
            parts.append(run.form.pack(*found))
            continue
        blob = values[run.first + run.count]
        if type(blob) is not bytes:
            raise MisfitError
        if run.prefixed:
            found.append(len(blob))
        elif run.size and run.size(values) != len(blob):
            raise MisfitError
        parts += (run.form.pack(*found), blob)
    return b"".join(parts)


def _refuse_misfits(run: _Run, found: list[Any], values: Sequence[Any]) -> None:
    """Make *found*, the values of *run*, such that struct writes them, or refuse."""
    for i, size in run.exact:
        if len(values[i]) != size:
            raise MisfitError
    for i, wanted in run.constants:
        if values[i] != wanted:
            raise MisfitError
    for i in run.integers:
        found[i - run.first] = _three_bytes(values[i])


def _three_bytes(value: object) -> bytes:
    if not isinstance(value, int) or not 0 <= value < 2**24:
        raise MisfitError
    return value.to_bytes(3, "big")


def _key_form(layout: Struct, deciding: list[str]) -> struct.Struct:
    """Return the struct that reads the fields in *deciding* and skips the others."""
    form, missing = "", list(deciding)
    for name, part in leaves(layout, View(lambda _: 0)):
        if not missing:
            break
        if isinstance(part, FormatField) and part.fmtstr[0] == ">":
            wanted = name in missing
            form += part.fmtstr[1] if wanted else f"{part.sizeof()}x"
            missing = [other for other in missing if other != name]
        else:
            raise UnsuitableLayoutError(f"a choice looks behind {name}")
    return struct.Struct(">" + form)


def _runs(fields: list[tuple[str, Any]]) -> Iterator[_Run]:
    """Yield the runs that *fields* fall into."""
    run = _Building(first=0)
    for index, (name, part) in enumerate(fields):
        if isinstance(part, Prefixed):
            yield run.finish(prefix=_letter(part.lengthfield))
        elif isinstance(part, Bytes) and callable(part.length):
            if "." in name:
                raise UnsuitableLayoutError(f"{name}: a computed size in a structure")
            yield run.finish(size=_size(part.length, [name for name, _ in fields]))
        else:
            run.add(index, part)
            continue
        run = _Building(first=index + 1)
    if run.form != ">":
        yield run.finish()


def _letter(part: Any) -> str:
    """Return the letter that the struct module has for the integer *part*."""
    return str(part.fmtstr[1])


def _size(expression: Any, names: list[str]) -> Size:
    """Return a function that computes *expression*, such as ``this.size - 4``."""
    if isinstance(expression, BinExpr):
        tree: Any = expression  # its parts are missing from the published types
        operate = tree.op
        left, right = _size(tree.lhs, names), _size(tree.rhs, names)
        return lambda values: int(operate(left(values), right(values)))
    if not callable(expression):
        return lambda _: int(expression)
    read: list[str] = []
    expression(View(read.append))
    if len(read) != 1:
        raise UnsuitableLayoutError(f"{expression} is an unknown kind of size")
    return itemgetter(names.index(read[0]))


class _Building:
    """A run that more fields may join."""

    def __init__(self, *, first: int) -> None:
        self.first = first
        self.form = ">"
        self.count = 0
        self.integers: list[int] = []
        self.exact: list[tuple[int, int]] = []
        self.constants: list[tuple[int, object]] = []

    def add(self, index: int, part: Any) -> None:
        """Let *part*, the field at *index*, join the run."""
        if isinstance(part, Const):
            self.constants.append((index, part.value))
            part = part.subcon
        if isinstance(part, FormatField) and part.fmtstr[0] == ">":
            self.form += part.fmtstr[1]
        elif isinstance(part, BytesInteger) and _is_24_bits(part):
            self.form += "3s"
            self.integers.append(index)
        elif isinstance(part, Bytes):
            self.form += f"{part.length}s"
            self.exact.append((index, int(part.sizeof())))
        else:
            raise UnsuitableLayoutError(f"{type(part).__name__} is an unknown kind")
        self.count += 1

    def finish(self, *, prefix: str = "", size: Size | None = None) -> _Run:
        """Return the run, which ends with a size in the format *prefix* if given."""
        return _Run(
            form=struct.Struct(self.form + prefix),
            first=self.first,
            count=self.count,
            integers=tuple(self.integers),
            exact=tuple(self.exact),
            constants=tuple(self.constants),
            prefixed=bool(prefix),
            size=size,
            is_beyond_struct=bool(self.integers or self.constants or size),
        )


def _is_24_bits(part: BytesInteger) -> bool:
    return (part.length, part.signed, part.swapped) == (3, False, False)
