"""
Invariants between a store's configuration and its queues.

They cover consumed and delivered offsets, topics, and .bak copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from spark_checks.findings import Finding, Invariant, Severity
from spark_checks.invariants.side_files import json_error
from spark_checks.store_files import Store, read_whole
from spark_checks.survey.summary import SurveySummary
from spec.layout import LayoutError
from spec.store.config import config_files
from spec.wire.bodies import fastjson
from spec.wire.message import delayed
from spec.wire.message.topic_names import SCHEDULE_TOPIC

CONSUMED_IN_RANGE = Invariant(
    id="INV-OFFSET-001",
    title="No group's consumed offset is beyond the end of its queue",
    requirement=config_files.OFFSETS_BY_TOPIC_AND_GROUP,
    cost="The group receives nothing from this queue until it grows to that offset, or"
    " starts at one of its ends. Messages are missed or repeated.",
)
DELIVERED_IN_RANGE = Invariant(
    id="INV-OFFSET-002",
    title="No delay level's delivered offset is beyond the end of its queue",
    requirement=delayed.DELAY_OFFSET_AHEAD,
    cost="Up to 4.9 delayed messages of this level wait until the queue grows to that"
    " offset.",
)
TOPICS_COVER_QUEUES = Invariant(
    id="INV-CONFIG-002",
    title="Every topic with messages is configured",
    requirement=config_files.TOPICS_HAVE_CREATED,
    cost="Consumers cannot read the messages of the topic, and the broker may delete"
    " them.",
)
COPY_READABLE = Invariant(
    id="INV-CONFIG-003",
    title="The copies of configuration files are JSON",
    requirement=config_files.BACKUP_IS_READ,
    cost="If the file itself is damaged later, there is no copy to load.",
)
OF_THE_BROKER = re.compile(
    r"SCHEDULE_TOPIC_XXXX|RMQ_SYS_.*|rmq_sys_.*|TRANS_CHECK_MAX_TIME_TOPIC"
    r"|OFFSET_MOVED_EVENT|TBW102|SELF_TEST_TOPIC|%.*|.*_REPLY_TOPIC"
)
"""System topics that a broker creates; not every release lists them."""
NOTHING_CONSUMED = -1
CONSUMED = ("config/consumerOffset.json", "config/lmqConsumerOffset.json")
"""Files with consumed offsets; a broker with enableLmq uses the second one."""


def check_settings(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings between the configuration of *store* and its queues."""
    yield from _check_consumed(store, summary)
    yield from _check_delivered(store, summary)
    yield from _check_topics(store, summary)
    yield from _check_copies(store)


def _check_consumed(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    for path in CONSUMED:
        yield from _consumed_in(store, summary, path)


def _consumed_in(store: Store, summary: SurveySummary, path: str) -> Iterator[Finding]:
    data, table = table_of(store, path, "offsetTable")
    for name, offsets in table.items():
        topic = name.partition("@")[0]
        if not isinstance(offsets, dict):
            continue
        for queue, offset in offsets.items():
            end = end_of(summary, topic, str(queue))
            if _is_within(offset, end):
                continue
            yield Finding(
                invariant=CONSUMED_IN_RANGE,
                severity=_severity(store),
                file=path,
                offset=place_of(data, name, str(queue)),
                length=len(str(offset)),
                expected=_expected(end),
                found=str(offset),
                message=f"{name} has consumed queue {queue} up to {offset}, but the"
                f" queue {_end_in_words(end)}.",
            )


def _check_delivered(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    path = "config/delayOffset.json"
    data, table = table_of(store, path, "offsetTable")
    for level, offset in table.items():
        if not level.isdecimal():
            continue
        end = end_of(summary, SCHEDULE_TOPIC, str(int(level) - 1))
        if _is_within(offset, end):
            continue
        yield Finding(
            invariant=DELIVERED_IN_RANGE,
            severity=_severity(store),
            file=path,
            offset=place_of(data, "offsetTable", level),
            length=len(str(offset)),
            expected=_expected(end),
            found=str(offset),
            message=f"Delay level {level} has delivered up to {offset}, but its queue"
            f" {_end_in_words(end)}.",
        )


def _check_topics(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    path = "config/topics.json"
    _, table = table_of(store, path, "topicConfigTable")
    if not table:
        return
    for topic in sorted({topic for topic, _ in summary.units}):
        if topic in table or OF_THE_BROKER.fullmatch(topic):
            continue
        queues = [q for (t, _), q in summary.units.items() if t == topic]
        yield Finding(
            invariant=TOPICS_COVER_QUEUES,
            severity=Severity.WARNING,
            file=path,
            offset=0,
            length=0,
            expected=f"the topic {topic}",
            found="no configuration",
            message=f"{topic} has {sum(q.count for q in queues)} messages in"
            f" {len(queues)} queues, but no configuration.",
        )


def _check_copies(store: Store) -> Iterator[Finding]:
    for file in store.under("config"):
        wrong = None
        if file.name.endswith(".json.bak"):
            wrong = json_error(read_whole(store.url, file))
        if wrong is not None:
            offset, reason = wrong
            yield Finding(
                invariant=COPY_READABLE,
                severity=Severity.WARNING,
                file=file.path,
                offset=offset,
                length=file.size,
                expected="JSON",
                found=reason,
                message=f"{file.path} is not JSON.",
            )


def table_of(
    store: Store, path: str, member: str
) -> tuple[bytes, Mapping[str, object]]:
    """Return a configuration file and the table in it; empty without one."""
    file = next((file for file in store.files if file.path == path), None)
    if file is None:
        return b"", {}
    data = read_whole(store.url, file)
    try:
        value = fastjson.loads(data)
    except (LayoutError, UnicodeDecodeError):
        return data, {}
    table = value.get(member) if isinstance(value, dict) else None
    if not isinstance(table, dict):
        return data, {}
    return data, {str(name): entry for name, entry in table.items()}


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


def place_of(data: bytes, name: str, key: str) -> int:
    """Return the position of the value of *key* in the object *name*."""
    begin = max(data.find(f'"{name}"'.encode()), 0)
    found = re.compile(rb'[{,]\s*"?' + key.encode() + rb'"?\s*:\s*').search(data, begin)
    return found.end() if found else begin


def _severity(store: Store) -> Severity:
    """Return the severity: queues of a killed broker may be incomplete."""
    return Severity.WARNING if store.was_left_open else Severity.ERROR
