"""
Invariants between a store's configuration and its queues.

They cover consumed and delivered offsets, topics, and .bak copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_checks.config_files import (
    CONSUMED,
    DELIVERED_OFFSETS,
    TOPICS,
    config_table,
    consumed_offsets,
    place_of,
)
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.side_files import unreadable_json
from spark_checks.store_files import Store
from spark_checks.survey.summary import SurveySummary
from spec.wire.message.topic_names import SCHEDULE_TOPIC

OF_THE_BROKER = re.compile(
    r"SCHEDULE_TOPIC_XXXX|RMQ_SYS_.*|rmq_sys_.*|TRANS_CHECK_MAX_TIME_TOPIC"
    r"|OFFSET_MOVED_EVENT|TBW102|SELF_TEST_TOPIC|%.*|.*_REPLY_TOPIC"
)
"""System topics that a broker creates; not every release lists them."""
NOTHING_CONSUMED = -1


def check_settings(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings between the configuration of *store* and its queues."""
    yield from _check_consumed(store, summary)
    yield from _check_delivered(store, summary)
    yield from _check_topics(store, summary)
    yield from _check_copies(store)


def _check_consumed(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    for path in CONSUMED:
        for one in consumed_offsets(store, path):
            end = end_of(summary, one.topic, one.queue)
            if not _is_within(one.offset, end):
                yield file_finding(
                    "INV-OFFSET-001",
                    path,
                    one.place,
                    expected=_expected(end),
                    found=str(one.offset),
                    message=f"{one.name} has consumed queue {one.queue} up to"
                    f" {one.offset}, but the queue {_end_in_words(end)}.",
                )


def _check_delivered(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    table = config_table(store, DELIVERED_OFFSETS)
    for level, offset in table.entries.items():
        if not level.isdecimal():
            continue
        end = end_of(summary, SCHEDULE_TOPIC, str(int(level) - 1))
        if not _is_within(offset, end):
            position = place_of(table.data, "offsetTable", level)
            yield file_finding(
                "INV-OFFSET-002",
                DELIVERED_OFFSETS,
                (position, len(str(offset))),
                expected=_expected(end),
                found=str(offset),
                message=f"Delay level {level} has delivered up to {offset}, but its"
                f" queue {_end_in_words(end)}.",
            )


def _check_topics(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    configured = config_table(store, TOPICS).entries
    if not configured:
        return
    for topic in sorted({topic for topic, _ in summary.units}):
        if topic in configured or OF_THE_BROKER.fullmatch(topic):
            continue
        queues = [q for (t, _), q in summary.units.items() if t == topic]
        yield file_finding(
            "INV-CONFIG-002",
            TOPICS,
            (0, 0),
            expected=f"the topic {topic}",
            found="no configuration",
            message=f"{topic} has {sum(q.count for q in queues)} messages in"
            f" {len(queues)} queues, but no configuration.",
        )


def _check_copies(store: Store) -> Iterator[Finding]:
    for file, offset, reason in unreadable_json(store, ".json.bak"):
        yield file_finding(
            "INV-CONFIG-003",
            file.path,
            (offset, file.size),
            expected="JSON",
            found=reason,
            message=f"{file.path} is not JSON.",
        )


def end_of(summary: SurveySummary, topic: str, queue: str) -> int | None:
    """Return the offset behind the last unit of a queue; None if unknown."""
    units = summary.units.get((topic, int(queue))) if queue.isdecimal() else None
    return None if units is None or units.last is None else units.last + 1


def _is_within(offset: object, end: int | None) -> bool:
    """Whether *offset* is possible in a queue with this end; None if it is unknown."""
    if not isinstance(offset, int) or offset < NOTHING_CONSUMED:
        return False
    return end is None or offset <= end


def _expected(end: int | None) -> str:
    return "an offset of 0 or more" if end is None else f"an offset of 0 to {end}"


def _end_in_words(end: int | None) -> str:
    return "begins at 0" if end is None else f"ends at {end}"
