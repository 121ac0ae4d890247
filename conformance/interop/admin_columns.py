"""
What mqadmin prints, cut into cells that two targets can be compared by.

A cell has a name: of its row and column in a table, of its line in a list of settings,
of its place in JSON, or just the number of its line. What is not determined is named
here, with the reason; there, only the form is compared: the value without its digits.
So a ``null`` where a number belongs is seen everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from spec.wire import fastjson

Cells = dict[str, str]

_CLOCK = "the two are asked at different times"
_RATE = "depends on how many seconds ago the message was sent"
_DISK = "other programs write to the disk meanwhile"
_TIMING = "depends on how fast the machine is"
_PLACE = "each target keeps its files in a directory of its own"
_FLUSH = "a flush may come before or after the question"
_RUNTIME = {
    "bootTimestamp": _CLOCK,
    "runtime": _CLOCK,
    "earliestMessageTimeStamp": _CLOCK,
    "commitLogDirCapacity": _DISK,
    "commitLogDiskRatio": _DISK,
    "consumeQueueDiskRatio": _DISK,
    "getFoundTps": _RATE,
    "getMissTps": _RATE,
    "getTotalTps": _RATE,
    "getTransferedTps": _RATE,
    "putTps": _RATE,
    "putMessageDistributeTime": _TIMING,
    "putMessageEntireTimeMax": _TIMING,
    "getMessageEntireTimeMax": _TIMING,
    "remainHowManyDataToFlush": _FLUSH,
}
_SETTINGS = {
    "configStorePath": _PLACE,
    "kvConfigPath": _PLACE,
    "rocketmqHome": _PLACE,
}

UNDETERMINED: Mapping[str, Mapping[str, str]] = {
    "clusterList": {
        "InTPS(LOAD)": _RATE,
        "OutTPS(LOAD)": _RATE,
        "Hour": _CLOCK,
        "SPACE": _DISK,
    },
    "topicStatus": {"Last Updated": _CLOCK},
    "brokerStatus": _RUNTIME,
    "getNamesrvConfig": _SETTINGS,
}
"""By command, each column or line whose value is not determined, and why."""

ABSENT = {
    "getNamesrvConfig": {
        "bindAddress": "stands in the file that the real one was started with; 4.6.0"
        " repeats what it does not know",
    }
}
"""By command, each line that only the real one has, and why."""

ORDER_IS_JAVAS = frozenset({"topicList"})
"""Lines in the order of a Java hash table, which nobody may rely on."""


def cells_of(command: str, lines: Sequence[str]) -> Cells:
    """Return the cells of what *command* printed."""
    if not lines:
        return {}
    lines = [_without_time_limit(line) for line in lines]
    cut = _cut_of(command, lines)
    cells = cut(sorted(lines) if command in ORDER_IS_JAVAS else lines)
    for name in [name for name in cells if _last(name) in ABSENT.get(command, ())]:
        del cells[name]
    unknown = UNDETERMINED.get(command, {})
    return {
        name: _form(value) if _last(name) in unknown else value
        for name, value in cells.items()
    }


def anonymous(lines: Iterable[str], addresses: Mapping[str, str]) -> list[str]:
    """Return *lines* with each address as the word that stands for it."""
    found = list(lines)
    for address, word in addresses.items():
        # A port alone is also found in times and sizes: only whole numbers count.
        whole = re.compile(rf"(?<![\d.]){re.escape(address)}(?!\d)")
        found = [whole.sub(word, line) for line in found]
    return found


def _cut_of(command: str, lines: Sequence[str]) -> Callable[[Sequence[str]], Cells]:
    if lines[0].startswith("{"):
        return _cut_json
    if any(line.startswith("#") for line in lines):
        return _cut_table
    return {"brokerStatus": _cut_status, "getNamesrvConfig": _cut_settings}.get(
        command, _cut_lines
    )


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
        words = line.replace(", ", ",").split()
        if names[-1] == "Last Updated" and len(words) == len(names) + 1:
            words[-2:] = [" ".join(words[-2:])]  # a date and a time of day
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
    return {f"line {number}": line.strip() for number, line in enumerate(lines)}


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _form(value: str) -> str:
    """Return a value without its numbers; of a path, its file."""
    if value.startswith("/"):
        return "/"
    return re.sub(r"[-\d.\s]+", "", value)


def _without_time_limit(line: str) -> str:
    """Return a line without what is left of a time limit, often one less."""
    return re.sub(r"timeout, \d+\(ms\)", "timeout", line)
