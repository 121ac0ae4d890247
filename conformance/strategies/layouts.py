"""
Values for any layout, made from its declaration: ``build`` takes what is drawn here.

A field with the size of another field gets a value that fits it. Rules outside the
layout are not met here, such as a record's total size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from construct import Struct
from hypothesis import strategies as st

from spec.derive.expression import Expression, FieldReference, Operation
from spec.derive.outline import (
    TEXT_FIELDS,
    Blob,
    Choice,
    Counted,
    Fixed,
    Form,
    Integer,
    Row,
    Structure,
    outline,
)

BLOB_SIZES = st.sampled_from((0, 1, 2, 7, 100)) | st.integers(0, 40)
"""Sizes of bytes without a fixed size: mostly small, so that examples can be read."""

Values = dict[str, Any]


def values_of(layout: Struct) -> st.SearchStrategy[Values]:
    """Return values for every field of *layout*, nested as construct nests them."""
    return _values_of(outline(layout))


@st.composite
def _values_of(draw: st.DrawFn, structure: Structure) -> Values:
    return _without_outer(_structure(draw, structure, None))


def bytes_of(layout: Struct) -> st.SearchStrategy[bytes]:
    """Return bytes that *layout* reads, all of them."""
    return values_of(layout).map(lambda values: bytes(layout.build(values)))


def _structure(draw: st.DrawFn, structure: Structure, outer: Values | None) -> Values:
    values: Values = {"_": outer}
    counting = _names_that_count(structure)
    compared = _compared_numbers(structure)
    for one in structure.fields:
        if one.name in counting and isinstance(one.form, Integer):
            values[one.name] = draw(BLOB_SIZES)
        elif one.name in compared:
            planted = st.sampled_from(compared[one.name])
            values[one.name] = draw(planted | _any_integer(one.form))
        else:
            values[one.name] = _value(draw, one.form, values, one.name)
    return values


def _any_integer(form: Form) -> st.SearchStrategy[int]:
    assert isinstance(form, Integer), "only a number is compared with one"
    return integers(form)


def _names_that_count(structure: Structure) -> set[str]:
    """Return the fields that contain the sizes of others."""
    sizes = [form.size for form in _forms(structure) if isinstance(form, Blob)]
    return {look.name for size in sizes for look in _looks(size)}


def _compared_numbers(structure: Structure) -> dict[str, list[int]]:
    """Return the numbers that choices compare with; chance would never draw them."""
    found: dict[str, list[int]] = {}
    for form in _forms(structure):
        when = form.when if isinstance(form, Choice) else None
        match when:
            case Operation(left=FieldReference(name=name), right=int() as number):
                found.setdefault(name, []).append(number)
    return found


def _forms(structure: Structure) -> Iterator[Form]:
    for one in structure.fields:
        yield one.form
        if isinstance(one.form, Structure):
            yield from _forms(one.form)
        elif isinstance(one.form, Counted):
            yield one.form.count


def _looks(expression: Expression | None) -> Iterator[FieldReference]:
    if isinstance(expression, FieldReference):
        yield expression
    elif isinstance(expression, Operation):
        yield from _looks(expression.left)
        yield from _looks(expression.right)


def _value(draw: st.DrawFn, form: Form, values: Values, name: str) -> Any:
    match form:
        case Integer():
            return draw(integers(form))
        case Counted():
            most = integer_range(_chosen(form.count, values))[1]
            return _bytes(draw, name, most=most)
        case Blob(size=None):
            return _bytes(draw, name, most=100)
        case Structure():
            return _structure(draw, form, values)
        case Choice():
            return _value(draw, _chosen(form, values), values, name)
        case Fixed():
            return form.value
    return _sized_value(draw, form, values, name)


def _sized_value(draw: st.DrawFn, form: Form, values: Values, name: str) -> Any:
    if isinstance(form, Row):
        count = range(computed(form.count, values))
        return [_value(draw, form.form, values, name) for _ in count]
    assert isinstance(form, Blob)
    assert form.size is not None
    size = computed(form.size, values)
    if size < 0:  # the count of bytes was drawn too small: an earlier field is raised
        _raise_first_size(form.size, values, -size)
        size = 0
    return draw(st.binary(min_size=size, max_size=size))


def _raise_first_size(size: Expression, values: Values, by: int) -> None:
    """Add *by* to the field that *size* begins with."""
    first = next(iter(_looks(size)))
    assert first.up == 0, "a size that is said outside of its structure"
    values[first.name] += by


def _bytes(draw: st.DrawFn, name: str, *, most: int) -> bytes:
    size = min(draw(BLOB_SIZES), most)
    if name in TEXT_FIELDS:
        alphabet = st.characters(codec="utf-8", max_codepoint=0x2FFF)
        return draw(st.text(alphabet, max_size=size // 3)).encode()
    return draw(st.binary(min_size=size, max_size=size))


def _chosen(form: Form, values: Values) -> Form:
    """Return the form that *values* choose."""
    while isinstance(form, Choice):
        form = form.then if computed(form.when, values) else form.otherwise
    return form


def integers(form: Integer) -> st.SearchStrategy[int]:
    """Return the numbers that *form* holds, its ends planted."""
    least, most = integer_range(form)
    planted = {least, most, 0, 1, *((-1,) if least < 0 else ())}
    return st.sampled_from(sorted(planted, key=abs)) | st.integers(least, most)


def integer_range(form: Form) -> tuple[int, int]:
    """Return the least and the greatest number that *form* holds."""
    assert isinstance(form, Integer)
    bits = 8 * form.size
    if form.is_signed:
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1


_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def computed(expression: Expression, values: Values) -> int:
    """Return the value of *expression* among *values*."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, FieldReference):
        for _ in range(expression.up):
            values = values["_"]
        return int(values[expression.name])
    left = computed(expression.left, values)
    return _OPERATORS[expression.sign](left, computed(expression.right, values))


def _without_outer(values: Values) -> Values:
    return {
        name: _without_outer(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if name != "_"
    }
