"""
Comparison of two stores in numbers, for JSON and for people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spark_checks.against.comparison import Comparison, Read
from spark_checks.against.differing_ranges import Range
from spark_checks.against.findings import place_of
from spark_checks.against.messages import Outside
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.store_files import shown_url

Queue = tuple[str, int]


def document_of(
    compared: Comparison, found: Collection[Finding]
) -> Mapping[str, object]:
    """Return *compared* for the audit's JSON output; 64-bit values are strings.

    *found* are its findings; any of them makes the verdict ``diverged``.
    """
    common = compared.common
    here, there = compared.outside
    return {
        "store": shown_url(compared.there.store.url),
        "verdict": verdict_of(compared, found),
        "says": sentences(compared, found),
        "common": {"begin": str(common.begin), "end": str(max(common.end, 0))},
        "first_divergence": _first(compared),
        "ranges": [_range(one) for one in compared.ranges[:LISTED_MAX]],
        "ranges_count": len(compared.ranges),
        "here": {
            "begin": str(common.here_begin),
            "end": str(common.here_end),
            **_outside(common.here_end - common.end, here),
        },
        "there": {
            "begin": str(common.there_begin),
            "end": str(common.there_end),
            **_outside(common.there_end - common.end, there),
        },
        "topics": _topics(compared),
    }


def verdict_of(compared: Comparison, found: Collection[Finding]) -> str:
    """Return ``diverged``, ``apart``, ``behind``, ``ahead`` or ``same``."""
    common = compared.common
    if found:
        return "diverged"
    if common.here_end < common.there_begin or common.there_end < common.here_begin:
        return "apart"
    if common.here_end < common.there_end:
        return "behind"
    return "ahead" if common.there_end < common.here_end else "same"


def sentences(compared: Comparison, found: Collection[Finding]) -> str:
    """Return a sentence or two about the relation of the two stores."""
    common = compared.common
    here, there = compared.outside
    text = []
    if compared.first is not None:
        file, position = place_of(compared, compared.first.at)
        text.append(f"The logs differ first at {file} @ {position}.")
    elif found:
        text.append("The stores differ in files or consume queues.")
    elif common.is_empty:
        text.append("The two logs have no range in common.")
    else:
        text.append(
            f"From commit-log offset {common.begin} to {common.end} the logs are equal."
        )
    for name, ahead, reaches in (
        ("This store", there, common.there_end - common.here_end),
        ("The other store", here, common.here_end - common.there_end),
    ):
        if reaches > 0:
            count = sum(ahead.behind.values())
            text.append(f"{name} is behind by {reaches} bytes, {count} messages.")
    for name, has, since in (
        ("this store", here, common.there_begin - common.here_begin),
        ("the other store", there, common.here_begin - common.there_begin),
    ):
        if since > 0:
            text.append(f"Only {name} still has the {has.before} messages before that.")
    return " ".join(text)


def _first(compared: Comparison) -> Mapping[str, object] | None:
    first = compared.first
    if first is None:
        return None
    file, position = place_of(compared, first.at)
    return {
        "commit_log_offset": str(first.at),
        "file": file,
        "offset": str(position),
        "record_offset": str(first.offset),
        "field": first.field,
        "expected": first.expected,
        "found": first.found,
    }


def _range(one: Range) -> Mapping[str, object]:
    return {
        "begin": str(one.begin),
        "end": str(one.end),
        "only_here": one.here,
        "only_there": one.there,
        "changed": one.changed,
    }


def _outside(ahead: int, has: Outside) -> Mapping[str, object]:
    return {
        "bytes_ahead": str(max(ahead, 0)),
        "messages_ahead": sum(has.behind.values()),
        "messages_before": has.before,
    }


def _topics(compared: Comparison) -> Mapping[str, object]:
    """Return the offsets and messages of both sides by queue."""
    sides = (compared.here, compared.there)
    queues = sorted({queue for side in sides for queue in side.summary.units})
    queues += sorted({(o.topic, o.queue_id) for o in compared.one_sided} - set(queues))
    found: dict[str, dict[str, dict[str, object]]] = {}
    for queue in queues:
        topic = found.setdefault(queue[0], {"queues": {}})
        topic["queues"][str(queue[1])] = {
            "here": _range_of(compared.here, queue),
            "there": _range_of(compared.there, queue),
            **_counts(compared, queue),
        }
    return found


def _range_of(side: Read, queue: Queue) -> Mapping[str, object]:
    units = side.summary.units.get(queue)
    first, last = (units.first, units.last) if units else (None, None)
    return {
        "min": str(first or 0),
        "max": str(0 if last is None else last + 1),
        "messages": units.matched_count if units else 0,
    }


def _counts(compared: Comparison, queue: Queue) -> Mapping[str, int]:
    here, there = compared.outside
    only = {
        side: sum(
            one.count
            for one in compared.one_sided
            if (one.side, one.topic, one.queue_id) == (side, *queue)
        )
        for side in ("here", "there")
    }
    return {
        "only_here": only["here"],
        "only_there": only["there"],
        "ahead_here": here.behind.get(queue, 0),
        "ahead_there": there.behind.get(queue, 0),
    }
