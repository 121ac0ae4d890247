"""The report of ``rmqc salvage``, as text and as JSON."""

from __future__ import annotations

import json

from cli.runs.stores.salvage_store import Salvage
from reference.core.salvage.log_plan import BRIDGE_TOPIC
from reference.core.salvage.queue_offsets import OffsetRange
from reference.core.salvage.readable_records import DamagedRange
from spec.printable import printable

SHOWN_MAX = 20
"""Queues, ranges and files in the text; the JSON has all of them."""


def as_json(result: Salvage) -> str:
    """Return the report as JSON, offsets as strings. Ranges are without their end."""
    return (
        json.dumps(
            {
                "schema": 1,
                "store": str(result.target),
                "messages": result.record_count,
                "bridging_records": result.bridge_count,
                "timed_messages": result.timed_count,
                "lost": result.lost_count,
                "lost_offsets": [
                    {
                        "topic": name.topic,
                        "queue": name.queue_id,
                        "ranges": [_texts(one) for one in ranges],
                    }
                    for name, ranges in result.lost.items()
                ],
                "moved_queues": [
                    {"topic": name.topic, "queue": name.queue_id, "by": by}
                    for name, by in result.moved.items()
                ],
                "lowered_offsets": [
                    {"topic": name.topic, "queue": name.queue_id}
                    for name in result.lowered
                ],
                "added_topics": result.added_topics,
                "damaged_bytes": str(result.damaged_size),
                "damaged_ranges": [_texts(one) for one in result.damaged],
                "missing_files": result.missing_files,
                "warnings": [*result.unreadable, *result.warnings],
                "without_queues": result.is_without_queues,
                "start": None if result.start is None else result.start.as_json(),
            },
            indent=2,
        )
        + "\n"
    )


def as_text(result: Salvage) -> str:
    """Return the report as lines: first what is lost for good."""
    lines = [_headline(result)]
    for name, ranges in list(result.lost.items())[:SHOWN_MAX]:
        shown = ", ".join(f"{one.begin}..{one.end - 1}" for one in ranges[:SHOWN_MAX])
        more = len(ranges) - SHOWN_MAX
        shown += f" and {more} more ranges" if more > 0 else ""
        lines.append(f"  lost: {name.topic}, queue {name.queue_id}, offsets {shown}")
    lines += _more(len(result.lost), "queues")
    lines += _moved(result)
    if result.lowered:
        lines.append(
            "  committed offsets of groups and delay levels behind the end of their"
            f" queue, now at its end: {len(result.lowered):,}"
        )
    if result.bridge_count:
        count = _count(result.bridge_count, "record")
        lines += [
            f"  {count} of the topic {BRIDGE_TOPIC} in the place of damage:",
            "    no consumer receives them, but an audit counts them",
        ]
    if timed := result.timed_count:
        # 5.3.3 org.apache.rocketmq.store.timer.TimerMessageStore#recover
        lines += [
            f"  timer files: not copied; 5.x reads its messages again ({timed:,}):",
            "    those due are delivered, perhaps a second time; others at their time",
        ]
    if added := result.added_topics:
        lines += [
            f"  {_count(len(added), 'topic')} that topics.json did not have:",
            *(f"    {topic}" for topic in added[:SHOWN_MAX]),
            *(f"  {line}" for line in _more(len(added), "topics")),
            "    Delete those again that were deleted (mqadmin deleteTopic).",
        ]
    missing = result.missing_files
    lines += [f"  missing file: commitlog/{name}" for name in missing[:SHOWN_MAX]]
    lines += _more(len(missing), "missing files")
    lines += [f"  {warning}" for warning in (*result.unreadable, *result.warnings)]
    if size := result.default_queue_file_size:
        setting = "mappedFileSizeConsumeQueue"
        lines.append(f"  queue files: of {size:,} bytes, as {setting} must be")
    if result.is_without_queues:
        lines += [
            "  no consumequeue: only a broker builds LMQs and batch consume queues.",
            "    The first start builds all queues. An audit before it reports that",
            "    they are missing (INV-CQ-005, of batch topics also INV-LOG-005).",
        ]
    if result.start is not None and result.start.is_harmless:
        lines.append(f"  {result.start.result}")
    lines += [
        "",
        f"The new store is {result.target}. Check it before use:",
        f"  rmqc audit {result.target}",
        "",
    ]
    return "\n".join(map(printable, lines))


def _moved(result: Salvage) -> list[str]:
    """Return lines about the queues whose later messages have lower offsets."""
    if not result.moved:
        return []
    lines = [
        f"  {_count(len(result.moved), 'queue')} had a gap: later messages and the"
        " committed offsets moved down to close it"
    ]
    lines += [
        f"    {name.topic}, queue {name.queue_id}, by {by:,}"
        for name, by in list(result.moved.items())[:SHOWN_MAX]
    ]
    return lines + [f"  {line}" for line in _more(len(result.moved), "queues")]


def _more(count: int, noun: str) -> list[str]:
    """Return a line about those of *count* that are not shown, if there are any."""
    more = count - SHOWN_MAX
    return [f"  and {more:,} more {noun} (--format json)"] if more > 0 else []


def _headline(result: Salvage) -> str:
    kept = _count(result.record_count, "message")
    if not result.damaged and not result.lost:
        return f"{kept} salvaged{'.' if result.unreadable else ', none lost.'}"
    return (
        f"{kept} salvaged. Lost: {_count(result.lost_count, 'message')} of"
        f" {_count(len(result.lost), 'queue')};"
        f" {_count(result.damaged_size, 'byte')} of the log are damaged in"
        f" {_count(len(result.damaged), 'range')}."
    )


def _texts(one: OffsetRange | DamagedRange) -> list[str]:
    return [str(one.begin), str(one.end)]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
