"""
Two more forms of fastjson: for people, and for every JSON reader.

Configuration files are pretty-printed: a tab for each level, a line for each member. A
map whose keys are not strings stays on one line, except for the brace at its end. From
4.9.4 on a name server answers newer clients in standard JSON, and others on request
(``spec.routing.route_data`` has the condition). All keys are in quotes, members of maps
are sorted, and characters outside ASCII are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from spec.clause import Clause, Level, release_key
from spec.wire.bodies import fastjson

_ROUTE = "4.9.7 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"

STANDARD_ESCAPES = Clause(
    id="WIRE-FASTJSON-006",
    level=Level.SHOULD,
    text=(
        "From 4.9.4 to 5.3, a name server escapes characters above 126 in standard "
        "JSON as backslash, u and four upper-case digits, and writes a solidus after "
        "a backslash."
    ),
    source=f"{_ROUTE}#getRouteInfoByTopic",
    since="4.9.4",
    until="5.3",
)

_SPECIAL = re.compile(r"[^ !#-.0-\[\]-~]")
_SHORT = {
    "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
    '"': '\\"', "/": "\\/", "\\": "\\\\",
}  # fmt: skip


def dumps_pretty(value: object, *, release: str = "4.6.0") -> bytes:
    """Return *value* as *release* writes a configuration file.

    Since 5.4 every member and item has a line of its own.
    """
    key = release_key(release)
    if key < (5, 4):
        written = _pretty(value, 0)
    else:
        written = _even(value, 0, shortens_empty=key >= (5, 5))
    return written.encode("utf-8", "surrogatepass")


def dumps_standard(value: object) -> bytes:
    """Return *value* as fastjson writes it for readers of standard JSON."""
    return _standard(value).encode("ascii")


def _pretty(value: object, depth: int) -> str:
    if _is_list(value):
        return "[" + ",".join(_pretty(item, depth) for item in value) + "]"
    if not isinstance(value, Mapping):
        return _plain(value)
    members = [(key, item) for key, item in value.items() if item is not None]
    if not members:
        return "{}"
    written = ""
    for number, (key, item) in enumerate(members):
        comma = "," if number else ""
        line = _line(depth + 1) if isinstance(key, str) else ""
        written += f"{comma}{line}{_key(key)}:{_pretty(item, depth + 1)}"
    return "{" + written + _line(depth) + "}"


def _even(value: object, depth: int, *, shortens_empty: bool) -> str:
    inner = _line(depth + 1)

    def written(item: object) -> str:
        return _even(item, depth + 1, shortens_empty=shortens_empty)

    if _is_list(value) and not any(isinstance(item, int) for item in value):
        items = f",{inner}".join(map(written, value))
        return "[" + inner + items + _line(depth) + "]"
    if not isinstance(value, Mapping):
        # Numbers in an array stay on one line.
        return _plain(value)
    members = ((key, item) for key, item in value.items() if item is not None)
    pairs = [f"{_key(key)}:{written(item)}" for key, item in members]
    if shortens_empty and not pairs:
        return "{}"
    return "{" + inner + f",{inner}".join(pairs) + _line(depth) + "}"


def _line(depth: int) -> str:
    return "\n" + "\t" * depth


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _plain(value: object) -> str:
    return fastjson.dumps(value).decode("utf-8", "surrogatepass")


def _key(key: object) -> str:
    return _plain({key: 0})[1:-3]


def _standard(value: object) -> str:
    if isinstance(value, Mapping):
        members = {_name(key): item for key, item in value.items() if item is not None}
        pairs = (f"{_text(k)}:{_standard(members[k])}" for k in sorted(members))
        return "{" + ",".join(pairs) + "}"
    if _is_list(value):
        return "[" + ",".join(map(_standard, value)) + "]"
    return _text(value) if isinstance(value, str) else _plain(value)


def _name(key: object) -> str:
    """Return *key* as text; a key that is an object is its own JSON in a string."""
    return key if isinstance(key, str) else _key(key)


def _text(value: str) -> str:
    return f'"{_SPECIAL.sub(_escaped, value)}"'


def _escaped(found: re.Match[str]) -> str:
    """Return a character as escapes, of its two UTF-16 halves if it has two."""
    character = found.group()
    if character in _SHORT:
        return _SHORT[character]
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    halves = (units[place : place + 4] for place in range(0, len(units), 4))
    return "".join(f"\\u{half}" for half in halves)
