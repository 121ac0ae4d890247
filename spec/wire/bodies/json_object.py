"""
Read the objects of a JSON body, field by field.

fastjson omits a field that is null. A number may be a string, and a key of a map may be
a bare integer. These readers accept all of that. Their LayoutError has the name of the
wrong field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spec.layout import LayoutError

JsonObject = Mapping[Any, Any]


def as_object(value: object, field: str = "") -> JsonObject:
    """Return *value*, which must be a JSON object."""
    if not isinstance(value, Mapping):
        reason = f"{type(value).__name__} found, an object expected"
        raise LayoutError(reason, field=field)
    return value


def object_in(holder: JsonObject, field: str) -> JsonObject:
    """Return the object that *holder* has as *field*; an absent one is empty."""
    value = holder.get(field)
    return {} if value is None else as_object(value, field)


def list_in(holder: JsonObject, field: str) -> list[Any]:
    """Return the list that *holder* has as *field*; an absent one is empty."""
    value = holder.get(field)
    if value is None:
        return []
    if not isinstance(value, list | tuple | set | frozenset):
        reason = f"{type(value).__name__} found, a list expected"
        raise LayoutError(reason, field=field)
    return list(value)


def _member(holder: JsonObject, field: str, default: object) -> object:
    """Return the *field* of *holder*; *default* where it is absent or null."""
    value = holder.get(field)
    return default if value is None else value


def text_in(holder: JsonObject, field: str, default: str | None = None) -> str:
    """Return the text that *holder* has as *field*."""
    return as_text(_member(holder, field, default), field)


def as_text(value: object, field: str = "") -> str:
    """Return *value*, which must be text."""
    if not isinstance(value, str):
        reason = f"{type(value).__name__} found, text expected"
        raise LayoutError(reason, field=field)
    return value


def integer_in(holder: JsonObject, field: str, default: int | None = None) -> int:
    """Return the integer that *holder* has as *field*, also where it is in quotes."""
    return as_integer(_member(holder, field, default), field)


def as_integer(value: object, field: str = "") -> int:
    """Return *value* as an integer; it may come in quotes."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        reason = f"{type(value).__name__} found, an integer expected"
        raise LayoutError(reason, field=field)
    try:
        return int(value)
    except ValueError as error:
        raise LayoutError(f"{value!r} is not an integer", field=field) from error


def truth_in(holder: JsonObject, field: str) -> bool:
    """Return whether *field* of *holder* is true; an absent one is false."""
    return as_truth(_member(holder, field, default=False), field)


def as_truth(value: object, field: str = "") -> bool:
    """Return *value* as a truth value; it may come in quotes, in any letter case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    reason = f"{type(value).__name__} found, true or false expected"
    raise LayoutError(reason, field=field)
