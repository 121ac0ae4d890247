"""
Places of values in the tree of a frame, without numbers and names of one run.

``fields.msgId`` is a header field, ``body.brokerDatas[].brokerAddrs{}`` a value of a
map in the rows of a list, ``body[].queue_offset`` a field of each message record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.mutating_proxy.frame_tree import KIND, PROPERTIES, Tree

_MEMBER = re.compile(r"[a-z][A-Za-z]*|[a-z]+(_[a-z]+)+")
"""Names of declared members and fields; other names are keys of maps."""
_PROPERTY = re.compile(r"(1ST_)?[A-Z][A-Z_]*")
"""Names of properties that clients and brokers give a meaning."""
_HEADER_PROPERTIES = {f"fields.{name}" for name in PROPERTIES.values()}
NO_KEY = "{}"
NO_INDEX = "[]"


class Occurrence(NamedTuple):
    """A value in a tree, with the container that holds it."""

    place: str
    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        """The value itself."""
        return self.holder[self.key]


def occurrences(tree: Tree) -> Iterator[Occurrence]:
    """Yield every value of *tree*, containers before their content."""
    for name in tree:
        if name != KIND:
            yield from _below(str(name), tree, name)


def occurrences_of(tree: Tree, place: str) -> list[Occurrence]:
    """Return the values of *tree* at *place*."""
    return [one for one in occurrences(tree) if one.place == place]


def kind_of(value: object) -> str:
    """Return the kind of *value* in one word, by which changes are chosen."""
    if isinstance(value, str):
        return "number" if _is_number(value) else "text"
    kinds = {bool: "truth", int: "number", bytes: "bytes", list: "rows", dict: "map"}
    return kinds.get(type(value), "nothing" if value is None else "other")


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii()


def _below(place: str, holder: Any, key: Any) -> Iterator[Occurrence]:
    yield Occurrence(place, holder, key)
    value = holder[key]
    if isinstance(value, dict):
        for inner in list(value):
            yield from _below(place + _step(place, inner), value, inner)
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from _below(place + NO_INDEX, value, index)


def _step(place: str, key: object) -> str:
    """Return the step from a map at *place* to the value of *key*."""
    if not isinstance(key, str):
        return NO_KEY
    if place.endswith("properties") or place in _HEADER_PROPERTIES:
        return f".{key}" if _PROPERTY.fullmatch(key) else NO_KEY
    if place == "fields":
        return f".{key}"
    is_member = _MEMBER.fullmatch(key) and not place.endswith("Table")
    return f".{key}" if is_member else NO_KEY
