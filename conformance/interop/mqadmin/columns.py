"""
Output of mqadmin, cut into cells that can be compared between two targets.

The name of a cell is its row and column in a table, its line in a list of settings, or
its path in JSON. Elsewhere it is the number of the line. For undetermined cells, see
``undetermined.py``, only the form is compared: the value without its digits. A ``null``
in place of a number is therefore a difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from conformance.interop.mqadmin.undetermined import (
    ABSENT,
    UNDETERMINED,
    UNDETERMINED_TEXTS,
)
from spec.wire.bodies import fastjson

Cells = dict[str, str]

ORDER_IS_JAVAS = frozenset({"topicList"})
"""Commands with lines in the order of a Java hash table, which is unspecified."""

_STATISTICS = (0, 34, 66, 79, 91, 103, 118)
"""First character of each column of statsAll, whose cells may be empty."""
_DATE_AND_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_PADDING = re.compile(" {2,}")
_NEXT_FIELD = re.compile(r", (?=[\w()]+=)")


def cells_of(command: str, lines: Sequence[str]) -> Cells:
    """Return the cells of what *command* printed."""
    cut = _raw_cells(command, lines)
    unknown = UNDETERMINED.get(command, {})
    return {
        name: _form(value) if _last(name) in unknown else _quiet(value)
        for name, value in cut.items()
    }


def unknowns_of(command: str, lines: Sequence[str]) -> dict[str, str]:
    """Return the undetermined cells among *lines*, each with its reason."""
    cut = _raw_cells(command, lines)
    unknown = UNDETERMINED.get(command, {})
    found = {
        _last(name): unknown[_last(name)] for name in cut if _last(name) in unknown
    }
    for name, value in cut.items():
        if _last(name) not in unknown:
            found |= {
                n.name: n.reason for n in UNDETERMINED_TEXTS if n.pattern.search(value)
            }
    absent = ABSENT.get(command, {})
    return found | {
        line.partition("=")[0].strip(): absent[line.partition("=")[0].strip()]
        for line in lines
        if line.partition("=")[0].strip() in absent
    }


def _raw_cells(command: str, lines: Sequence[str]) -> Cells:
    if not lines:
        return {}
    cut = _cut_of(command, lines)
    cells = cut(sorted(lines) if command in ORDER_IS_JAVAS else lines)
    for name in [name for name in cells if _last(name) in ABSENT.get(command, ())]:
        del cells[name]
    return cells


def anonymous(lines: Iterable[str], addresses: Mapping[str, str]) -> list[str]:
    """Return *lines* with each address as the word that stands for it."""
    found = list(lines)
    for address, word in addresses.items():
        # A port alone is also found in times and sizes: only whole numbers count.
        whole = re.compile(rf"(?<![\d.]){re.escape(address)}(?!\d)")
        found = [whole.sub(word, line) for line in found]
    return found


def _cut_of(command: str, lines: Sequence[str]) -> Callable[[Sequence[str]], Cells]:
    if command in _CUTS and not lines[0].startswith("org.apache"):
        return _CUTS[command]
    if lines[0].startswith("{"):
        return _cut_json
    if any(line.startswith("#") for line in lines):
        return _cut_table
    return _cut_lines


def _cut_json(lines: Sequence[str]) -> Cells:
    cells: Cells = {}
    pending: list[tuple[str, object]] = [("", fastjson.loads("\n".join(lines)))]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{name}/{key}", inner) for key, inner in value.items()]
        elif isinstance(value, list) and value:
            pending += [(f"{name}/{n}", inner) for n, inner in enumerate(value)]
        else:
            cells[name] = repr(value)
    return cells


def _cut_table(lines: Sequence[str]) -> Cells:
    """Cut at the headings; a row's words are its cells, one a heading."""
    heading = next(line for line in lines if line.startswith("#"))
    names = [name.strip() for name in heading.split("#")[1:]]
    cells = {"headings": " | ".join(names)}
    rows = sorted(line for line in lines if not line.startswith("#"))
    for row, line in enumerate(rows):
        # One column of 5.x has words of its own in brackets.
        words = _DATE_AND_TIME.sub(r"\1T\2", line).replace(", ", ",").split()
        for column, word in enumerate(words):
            name = names[column] if column < len(names) else f"more {column}"
            cells[f"row {row}/{name}"] = word
    return cells


def _cut_status(lines: Sequence[str]) -> Cells:
    return {
        f"{'/'.join(name.split())}": value.strip()
        for name, _, value in (line.partition(": ") for line in lines)
    }


def _cut_settings(lines: Sequence[str]) -> Cells:
    pairs = (line.partition("=") for line in lines if not line.startswith("="))
    titles = {f"title {n}": line for n, line in enumerate(lines) if line[0] == "="}
    return titles | {name.strip(): value.strip() for name, _, value in pairs}


def _cut_lines(lines: Sequence[str]) -> Cells:
    """Cut at the names of fields, as in ``Thing [size=1, place=2]``."""
    cells: Cells = {}
    for number, line in enumerate(lines):
        padded = _PADDING.sub("  ", line.strip())  # as wide as what an address was
        first, *fields = _NEXT_FIELD.split(padded)
        cells[f"line {number}"] = first
        for place, one in enumerate(fields):
            name, _, value = one.partition("=")
            cells[f"line {number}/{place} {name}"] = f"{name}={value}"
    return cells


def _cut_statistics(lines: Sequence[str]) -> Cells:
    """Cut at the columns' places: a topic without a consumer has empty cells."""
    heading = next(line for line in lines if line.startswith("#"))
    names = [name.strip() for name in heading.split("#")[1:]]
    ends = (*_STATISTICS[1:], None)
    places = [slice(*place) for place in zip(_STATISTICS, ends, strict=True)]
    rows = sorted(line for line in lines if not line.startswith("#"))
    return {"headings": " | ".join(names)} | {
        f"row {row}/{name}": line[place].strip()
        for row, line in enumerate(rows)
        for name, place in zip(names, places, strict=True)
    }


_CUTS: Mapping[str, Callable[[Sequence[str]], Cells]] = {
    "brokerStatus": _cut_status,
    "consumerStatus": _cut_lines,
    "getBrokerConfig": _cut_settings,
    "getNamesrvConfig": _cut_settings,
    "statsAll": _cut_statistics,
}
"""Cutting rule of each of these commands; otherwise the first line decides."""


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _form(value: str) -> str:
    """Return a value without its numbers; of a path, its file."""
    if value.startswith("/"):
        return "/"
    return re.sub(r"[-\d.\s]+", "", value)


def _quiet(value: str) -> str:
    """Return a value without the pieces that are not determined."""
    for noise in UNDETERMINED_TEXTS:
        value = noise.pattern.sub("~", value)
    return value
