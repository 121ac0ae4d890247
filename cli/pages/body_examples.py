"""Bodies of a request and its response: recorded examples, or declared members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from spec.bodies import BODIES, body_table
from spec.wire.headers.header_history import CodeHistory

FILE = Path(__file__).parents[2] / "fixtures" / "headers" / "bodies.json"
"""Recorded bodies by request code and kind of command."""
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}\[\],]|[^"{}\[\],]+')
_GAP = re.compile(" {3,}")
_OPENING, _CLOSING = "{[", "}]"


@cache
def _recorded() -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = json.loads(FILE.read_text("utf-8"))
    return found


def body_sections(request: CodeHistory) -> Iterator[tuple[str, str]]:
    """Yield title and text of each body of *request* and its response."""
    _, newest = request.versions[-1]
    for kind, names in (
        ("request", newest.bodies),
        ("response", newest.response_bodies),
    ):
        recorded = _recorded().get(str(request.code), {}).get(kind)
        title = " or ".join(names) or "a JSON object"
        if recorded is not None:
            example = f"Body of the {kind}, {title}, as {recorded['release']} wrote it"
            yield example, indented(recorded["body"])
        else:
            yield from _declared(kind, names)


def _declared(kind: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    declared = {one.__name__: one for one in BODIES.values()}
    for name in names:
        if name in declared:
            members = _GAP.sub("  ", body_table(declared[name]))
            yield f"Members of the {kind}'s body, {name}", members


def indented(text: str) -> str:
    """Return JSON as Java's fastjson writes it, each member in a line of its own."""
    lines, depth = [""], 0
    for part in _PART.findall(text):
        if part in _CLOSING:
            depth -= 1
            lines.append("  " * depth)
        lines[-1] += part
        if part in _OPENING or part == ",":
            depth += part in _OPENING
            lines.append("  " * depth)
    return "\n".join(lines)
