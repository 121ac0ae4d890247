"""
Invariants between a store's configuration and its queues.

They cover consumed and delivered offsets, and topics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from spark_checks.config_files import (
    DELIVERED_OFFSETS,
    TOPICS,
    GroupOffset,
    config_file,
    consumed_offsets,
    is_number,
    object_of,
)
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store, queue_of
from spark_checks.survey.summary import SurveySummary
from spec.store.batch_queue import BATCH, BATCH_QUEUE, SIMPLE, queue_type
from spec.store.file_names import CONSUME_QUEUE
from spec.wire.message.topic_names import SCHEDULE_TOPIC

OF_THE_BROKER = re.compile(
    r"SCHEDULE_TOPIC_XXXX|RMQ_SYS_.*|rmq_sys_.*|TRANS_CHECK_MAX_TIME_TOPIC"
    r"|OFFSET_MOVED_EVENT|TBW102|SELF_TEST_TOPIC|%.*|.*_REPLY_TOPIC"
)
"""System topics that a broker creates; not every release lists them."""
NOTHING_CONSUMED = -1
QUEUE_COUNT = "readQueueNums"


def check_settings(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings between the configuration of *store* and its queues."""
    topics = config_file(store, TOPICS).entries
    for one in consumed_offsets(store):
        end = _end_of(summary, one.topic, one.queue)
        if not _is_within(one.offset, end):
            yield _wrong_offset("INV-OFFSET-001", one, end)
        elif end is not None:
            count = object_of(topics.get(one.topic)).get(QUEUE_COUNT)
            yield from _unreadable_queue(one, end, count)
    delivered = config_file(store, DELIVERED_OFFSETS)
    for level, offset in delivered.entries.items():
        if not is_number(level):
            continue
        end = _end_of(summary, SCHEDULE_TOPIC, str(int(level) - 1))
        if not _is_within(offset, end):
            one = GroupOffset(
                file=delivered, name="offsetTable", queue=level, offset=offset
            )
            yield _wrong_offset("INV-OFFSET-002", one, end)
    if topics:
        yield from _check_topics(topics, summary)
        if not store.may_have_config_in_rocksdb:
            yield from _check_types(topics, store)


def _is_within(offset: object, end: int | None) -> bool:
    """Return whether a queue with this *end*, if it is known, can have *offset*."""
    if not isinstance(offset, int) or offset < NOTHING_CONSUMED:
        return False
    return end is None or offset <= end


def _wrong_offset(name: str, one: GroupOffset, end: int | None) -> Finding:
    """Return the finding of an offset that a queue with this *end* cannot have."""
    texts = {"range": "0 or more", "edge": "begins at 0"}
    if end is not None:
        texts = {"range": f"0 to {end}", "edge": f"ends at {end}"}
    return file_finding(name, *one.place, one=one, **texts)


def _unreadable_queue(one: GroupOffset, end: int, count: object) -> Iterator[Finding]:
    """Yield a queue behind the read queue count that its group has not consumed."""
    if not isinstance(count, int) or int(one.queue) < count or one.offset == end:
        return
    needed = int(one.queue) + 1
    yield file_finding(
        "INV-CONFIG-006", *one.place, one=one, end=end, count=count, needed=needed
    )


def _check_topics(
    configured: Mapping[str, object], summary: SurveySummary
) -> Iterator[Finding]:
    """Yield the topics with units that are not *configured*."""
    for topic in sorted({topic for topic, _ in summary.units}):
        if topic in configured or OF_THE_BROKER.fullmatch(topic):
            continue
        queues = [q for (t, _), q in summary.units.items() if t == topic]
        counts = {"queues": len(queues), "messages": sum(q.count for q in queues)}
        yield file_finding("INV-CONFIG-002", TOPICS, (0, 0), topic=topic, **counts)


def _check_types(configured: Mapping[str, object], store: Store) -> Iterator[Finding]:
    """Yield the topics whose queues have another type than the *configured* one."""
    for directory, wanted in ((CONSUME_QUEUE, SIMPLE), (BATCH_QUEUE, BATCH)):
        queues = (queue_of(f"{one}/", directory) for one in store.directories)
        for topic in sorted({queue[0] for queue in queues if queue}):
            kind = queue_type(configured.get(topic))
            if kind != wanted:
                texts = {"topic": topic, "kind": kind, "wanted": wanted}
                yield file_finding(
                    "INV-CONFIG-007", TOPICS, (0, 0), directory=directory, **texts
                )


def _end_of(summary: SurveySummary, topic: str, queue: str) -> int | None:
    """Return the offset behind the last unit of a queue; None if unknown."""
    units = summary.units_of(topic, queue)
    return None if units is None else (units.last or 0) + 1
