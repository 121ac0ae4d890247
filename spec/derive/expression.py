"""
Values that a layout computes from earlier fields: a size, or a choice of widths.

construct keeps ``this.size - 4`` as a tree of operations. Here the tree becomes plain
data, and `written` writes it in any language with the same operators.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from construct.expr import BinExpr

from spec.derive.walk import UnsuitableLayoutError


@dataclass(frozen=True, slots=True)
class FieldReference:
    """The value of a field before, so many structures further out."""

    name: str
    up: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """Two values and what is done with them, as Python writes it."""

    sign: str
    left: Expression
    right: Expression


Expression = int | FieldReference | Operation


_SIGNS: Mapping[Callable[..., Any], str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.and_: "&",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


class _Step:
    """Stands in for construct's context and notes which way a path goes."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = names

    def __getitem__(self, name: str) -> _Step:
        return _Step((*self.names, name))


def expression_of(found: Any) -> Expression:
    """Return *found*, a number or an expression of construct, as plain data."""
    if isinstance(found, int):
        return int(found)
    if isinstance(found, BinExpr):
        tree: Any = found  # its parts are missing from the published types
        if tree.op not in _SIGNS:
            raise UnsuitableLayoutError(f"{found}: an unknown kind of operation")
        left, right = expression_of(tree.lhs), expression_of(tree.rhs)
        return Operation(_SIGNS[tree.op], left, right)
    if callable(found):
        return _reference(found)
    raise UnsuitableLayoutError(f"{found!r} is an unknown kind of expression")


def _reference(path: Callable[[Any], Any]) -> FieldReference:
    try:
        step = path(_Step())
    except (TypeError, AttributeError) as error:
        raise UnsuitableLayoutError(f"{path} computes in a way of its own") from error
    names = step.names if isinstance(step, _Step) else ()
    *outer, name = names or ("",)
    if not name or any(one != "_" for one in outer):
        raise UnsuitableLayoutError(f"{path} looks into another structure")
    return FieldReference(name, len(outer))


def written(
    expression: Expression,
    write_field: Callable[[FieldReference], str],
    *,
    signs: Mapping[str, str] | None = None,
) -> str:
    """Return *expression* as source text.

    *write_field* writes a field. *signs* has the operators that the language writes
    differently from Python, with ``{}`` for their sides.
    """
    if isinstance(expression, FieldReference):
        return write_field(expression)
    if isinstance(expression, int):
        return str(expression)
    left = written(expression.left, write_field, signs=signs)
    right = written(expression.right, write_field, signs=signs)
    form = (signs or {}).get(expression.sign, f"({{}} {expression.sign} {{}})")
    return form.format(left, right)


def in_words(expression: Expression) -> str:
    """Return *expression* for a reader: ``size - 4``, ``system_flags & 16``."""
    text = written(expression, lambda field: field.name)
    return text[1:-1] if isinstance(expression, Operation) else text
