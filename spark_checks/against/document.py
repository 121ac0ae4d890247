"""Comparison of two stores in numbers, for JSON and for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spark_checks.against.sides import NAMES, Comparison, Side
from spark_checks.file_systems import shown_url
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.store_summary import range_of


def document_of(
    compared: Comparison, found: Collection[Finding]
) -> Mapping[str, object]:
    """Return *compared* for the audit's JSON output; 64-bit values are strings.

    *found* are its findings; any of them makes the verdict ``diverged``.
    """
    return {
        "store": shown_url(compared.there.store.url),
        "verdict": verdict_of(compared, found),
        "says": sentences(compared, found),
        "common": {"begin": str(compared.begin), "end": str(max(compared.end, 0))},
        "first_divergence": _first(compared),
        "ranges": [
            {
                "begin": str(one.begin),
                "end": str(one.end),
                "only_here": one.here,
                "only_there": one.there,
                "changed": one.changed,
            }
            for one in compared.ranges[:LISTED_MAX]
        ],
        "ranges_count": len(compared.ranges),
        "here": _extent(compared.here, compared.end),
        "there": _extent(compared.there, compared.end),
        "topics": _topics(compared),
    }


def verdict_of(compared: Comparison, found: Collection[Finding]) -> str:
    """Return ``diverged``, ``apart``, ``behind``, ``ahead`` or ``same``."""
    here, there = compared.here, compared.there
    if found:
        return "diverged"
    if here.end < there.begin or there.end < here.begin:
        return "apart"
    if here.end < there.end:
        return "behind"
    return "ahead" if there.end < here.end else "same"


def sentences(compared: Comparison, found: Collection[Finding]) -> str:
    """Return a sentence or two about the relation of the two stores."""
    begin, end = compared.begin, compared.end
    text = []
    if compared.first is not None:
        file, (position, _) = compared.place(compared.first.at, 0)
        text.append(f"The logs differ first at {file} @ {position}.")
    elif found:
        text.append("The stores differ in files or consume queues.")
    elif end <= begin:
        text.append("The two logs have no range in common.")
    else:
        text.append(f"From commit-log offset {begin} to {end} the logs are equal.")
    pairs = (compared.here, compared.there), (compared.there, compared.here)
    sides = list(zip(NAMES.values(), pairs, strict=True))
    text += [
        f"{name.capitalize()} is behind by {other.end - side.end} bytes,"
        f" {sum(other.behind.values())} messages."
        for name, (side, other) in sides
        if side.end < other.end
    ]
    text += [
        f"Only {name} still has the {side.before} messages before that."
        for name, (side, other) in sides
        if side.begin < other.begin
    ]
    return " ".join(text)


def _first(compared: Comparison) -> Mapping[str, object] | None:
    first = compared.first
    if first is None:
        return None
    file, (position, _) = compared.place(first.at, 0)
    return {
        "commit_log_offset": str(first.at),
        "file": file,
        "offset": str(position),
        "record_offset": str(first.offset),
        "field": first.field,
        "expected": first.expected,
        "found": first.found,
    }


def _extent(side: Side, end: int) -> Mapping[str, object]:
    """Return the extent of the log of *side*; the common range ends at *end*."""
    return {
        "begin": str(side.begin),
        "end": str(side.end),
        "bytes_ahead": str(max(side.end - end, 0)),
        "messages_ahead": sum(side.behind.values()),
        "messages_before": side.before,
    }


def _topics(compared: Comparison) -> Mapping[str, object]:
    """Return the offsets and messages of both sides by queue."""
    sides = {"here": compared.here, "there": compared.there}
    queues = sorted({queue for side in sides.values() for queue in side.summary.units})
    queues += sorted({(o.topic, o.queue_id) for o in compared.one_sided} - set(queues))
    found: dict[str, dict[str, dict[str, object]]] = {}
    for queue in queues:
        only = dict.fromkeys(sides, 0)
        for one in compared.one_sided:
            if (one.topic, one.queue_id) == queue:
                only[one.side] += one.messages
        topic = found.setdefault(queue[0], {"queues": {}})
        topic["queues"][str(queue[1])] = {
            **{name: range_of(s.summary.units.get(queue)) for name, s in sides.items()},
            **{f"only_{name}": count for name, count in only.items()},
            **{f"ahead_{name}": s.behind.get(queue, 0) for name, s in sides.items()},
        }
    return found
