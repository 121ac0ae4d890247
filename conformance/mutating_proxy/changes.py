"""
Changes of one value, by name: each is a frequent mistake of a peer.

A change returns the new value, `DROP` for a value that is left out, or `SAME` where it
does not apply to this value.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.mutating_proxy.places import Occurrence, kind_of


class _Mark:
    """A result of a change that is not a value."""


DROP: Final = _Mark()
SAME: Final = _Mark()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Values that a change may need beside the one that it changes."""

    previous: Sequence[Any] = ()
    """Earlier values at the same place, in the running test, the newest last."""
    others: Sequence[Any] = field(default=())
    """Earlier values at the same place, in earlier tests: those of other objects."""
    unread: Collection[str] = ()
    """Members beside the value that no release declares, so no peer reads them."""


Change = Callable[[Occurrence, Setting], Any]


def off_by_one(one: Occurrence, _: Setting) -> Any:
    """Count one too many: a number, a character, a byte; the opposite of a truth."""
    value = one.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, bytes):
        return value[:-1] if value else SAME
    if not isinstance(value, str):
        return SAME
    if kind_of(value) == "number":
        return str(int(value) + 1)
    return _OPPOSITE.get(value, f"{value}x")


_OPPOSITE = {"true": "false", "false": "true"}


def dropped(_: Occurrence, __: Setting) -> Any:
    """Leave the value out."""
    return DROP


def null(one: Occurrence, _: Setting) -> Any:
    """Write null instead of the value."""
    return SAME if one.value is None else None


def empty(one: Occurrence, _: Setting) -> Any:
    """Write the zero of its type instead of the value."""
    value = one.value
    if value is None or value in ("0", 0, "", b"", [], {}):
        return SAME
    return "0" if kind_of(value) == "number" and value == str(value) else type(value)()


def stale(one: Occurrence, setting: Setting) -> Any:
    """Repeat the value of an earlier frame."""
    return _newest_other(one.value, setting.previous)


def of_another(one: Occurrence, setting: Setting) -> Any:
    """Write the value of another object: of another row, or of an earlier test."""
    rows = one.holder
    if isinstance(rows, list) or (isinstance(rows, dict) and one.place.endswith("{}")):
        values = list(rows.values()) if isinstance(rows, dict) else rows
        found = _newest_other(one.value, values)
        if found is not SAME:
            return found
    return _newest_other(one.value, setting.others)


def swapped(one: Occurrence, setting: Setting) -> Any:
    """Write the value of the next member of the same kind that a peer reads."""
    if not isinstance(one.holder, dict):
        return SAME
    kind, names = kind_of(one.value), list(one.holder)
    begin = names.index(one.key)
    for name in names[begin + 1 :] + names[:begin]:
        value = one.holder[name]
        is_other = kind_of(value) == kind and value != one.value
        if is_other and name not in setting.unread:
            return copy.deepcopy(value)
    return SAME


def without_first(one: Occurrence, _: Setting) -> Any:
    """Leave out the first row."""
    return _without(one.value, first=True)


def without_last(one: Occurrence, _: Setting) -> Any:
    """Leave out the last row."""
    return SAME if len(one.value) == 1 else _without(one.value, first=False)


def doubled(one: Occurrence, _: Setting) -> Any:
    """Write the first row twice; in a map, under a second name."""
    if not one.value:
        return SAME
    if isinstance(one.value, list):
        return [copy.deepcopy(one.value[0]), *one.value]
    name, value = next(iter(one.value.items()))
    other = name + 1 if isinstance(name, int) else _renamed(name)
    return {**one.value, other: copy.deepcopy(value)}


def _renamed(name: Any) -> Any:
    """Return another key of a map; that of a setting or an object is a tuple."""
    if not isinstance(name, tuple):
        return f"{name}x"
    last = name[-1]
    if isinstance(last, str):
        return (*name[:-1], f"{last}x")
    return (*name[:-1], (last[0], off_by_one(Occurrence("", last, 1), Setting())))


def reversed_rows(one: Occurrence, _: Setting) -> Any:
    """Write the rows in the opposite order."""
    turned = one.value[::-1]
    return SAME if turned == one.value else turned


def _without(rows: Any, *, first: bool) -> Any:
    if not rows:
        return SAME
    if isinstance(rows, list):
        return rows[1:] if first else rows[:-1]
    names = list(rows)
    left = names[1:] if first else names[:-1]
    return {name: rows[name] for name in left}


def _newest_other(value: Any, values: Sequence[Any]) -> Any:
    for other in reversed(values):
        if other != value and kind_of(other) == kind_of(value):
            return copy.deepcopy(other)
    return SAME


OF_OTHERS = "another object's"
"""The change that needs values of earlier tests."""
OF_VALUES: dict[str, Change] = {
    "off by one": off_by_one,
    "dropped": dropped,
    "null": null,
    "empty": empty,
    "stale": stale,
    OF_OTHERS: of_another,
    "swapped": swapped,
}
OF_ROWS: dict[str, Change] = {
    "without the first row": without_first,
    "without the last row": without_last,
    "a row doubled": doubled,
    "rows reversed": reversed_rows,
}
CHANGES = {**OF_VALUES, **OF_ROWS}
_BY_KIND = {
    "number": ("off by one", "dropped", "null", "empty", "stale", OF_OTHERS),
    "truth": ("off by one", "dropped", "null"),
    "text": ("off by one", "dropped", "null", "empty", "stale", OF_OTHERS),
    "bytes": ("off by one", "empty", "stale"),
    "rows": ("dropped", "null", "empty", *OF_ROWS),
    "map": ("dropped", "null", "empty", *list(OF_ROWS)[:3]),
    "nothing": (),
    "other": (),
}


def changes_of(place: str, kind: str) -> tuple[str, ...]:
    """Return the names of the changes that make sense for a *kind* at *place*."""
    names = _BY_KIND[kind]
    if kind in ("number", "text"):
        names = (*names, "swapped")
    if not place.startswith("body") or place == "body":
        names = tuple(name for name in names if name != "null")
    if place.startswith("body[]") and "properties." not in place:
        names = tuple(name for name in names if name not in ("dropped", "null"))
    return names
