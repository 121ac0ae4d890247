"""
Check the records of popped messages: revive topics, and messages popped again.

The broker's progress in a revive queue is a consumed offset. A message of a checkpoint
before it was acknowledged, or is in the group's retry topic again.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spark_checks.config_files import GROUPS, TOPICS, config_file, consumed_offsets
from spark_checks.counting_rules import POPPED_AT
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding, listed
from spark_checks.invariants.pop.revive_records import (
    Checkpoint,
    Popped,
    ReviveRecord,
    check_record,
    revive_record,
)
from spark_checks.invariants.queue_records import QueuedRecord, QueueFiles
from spark_checks.store_files import Store
from spec.store.file_names import CONSUME_QUEUE
from spec.wire.message.topic_names import TIMER_TOPIC
from spec.wire.pop.pop_bodies import REVIVE_GROUP, REVIVE_TOPIC_PREFIX
from spec.wire.pop.pop_topics import popped_topic

RECORDS_MAX = 10_000
"""Records that are read of each queue, from the last one back."""
CLOCK_MS = 10_000
"""Milliseconds by which a clock may have been corrected."""
Retries = Mapping[str, Sequence[QueuedRecord]]
"""The last records of each retry topic."""


def check_pop(store: Store) -> Iterator[Finding]:
    """Yield the findings in revive topics of *store*, and in messages popped again."""
    begin = f"{CONSUME_QUEUE}/{REVIVE_TOPIC_PREFIX}"
    if not any(file.path.startswith(begin) for file in store.files):
        return
    files = QueueFiles(store)
    queues = [one for one in sorted(files.of_queue) if _is_revive_topic(one[0])]
    waiting = files.last((TIMER_TOPIC, 0), RECORDS_MAX)
    records = [
        *(r for r in waiting if _is_revive_topic(r.properties.get("REAL_TOPIC", ""))),
        *(r for queue in queues for r in files.last(queue, RECORDS_MAX)),
    ]
    decoded = [(record, revive_record(record)) for record in records]
    pops = [one for _, one in decoded if isinstance(one, ReviveRecord)]
    delivered = [one for one in pops if one.record.topic != TIMER_TOPIC]
    checkpoints = [one for one in delivered if isinstance(one, Checkpoint)]
    names = {name for one in checkpoints for name in one.retry_topics}
    retries = {name: files.last((name, 0), RECORDS_MAX) for name in names}
    yield from listed(
        itertools.chain(
            *(check_record(*pair) for pair in decoded),
            _check_acknowledgements(delivered),
            _check_popped_again(files, pops, retries),
            _check_counts(retries),
        )
    )


def _is_revive_topic(topic: str) -> bool:
    return topic.startswith(REVIVE_TOPIC_PREFIX)


def _check_acknowledgements(delivered: Iterable[ReviveRecord]) -> Iterator[Finding]:
    """Yield the acknowledgements of other messages than their checkpoint has.

    One without a checkpoint is legal. A client may repeat it, and the broker does not
    write a checkpoint whose messages are all acknowledged (5.3.3
    broker.processor.PopBufferMergeService#scan).
    """
    of_pop = {one.pop: one.offsets for one in delivered if isinstance(one, Checkpoint)}
    for one in delivered:
        popped = of_pop.get(one.pop, one.offsets)
        others = [n for n in one.offsets if n not in popped]
        if others and not isinstance(one, Checkpoint):
            named = {"popped": _shown(popped), "found": _shown(others)}
            yield file_finding("INV-POP-004", *one.record.place, **named)


def _check_popped_again(
    files: QueueFiles, pops: Iterable[ReviveRecord], retries: Retries
) -> Iterator[Finding]:
    """Yield the processed checkpoints with a message that is lost.

    A checkpoint counts as processed if a later one of its revive queue certainly is: a
    message of that one is in the retry topic. The log of a slave, or a copy of a store,
    may be older than the consumed offset.
    """
    store = files.store
    groups, topics = (config_file(store, path).entries for path in (GROUPS, TOPICS))
    processed = [
        (one, offsets)
        for one, offsets in _processed(store, pops)
        if one.group in groups and popped_topic(one.topic, group=one.group) in topics
    ]
    by_queue: dict[tuple[str, int], set[int]] = defaultdict(set)
    for one, offsets in processed:
        by_queue[one.queue].update(offsets)
    records = {
        (queue, record.queue_offset): record
        for queue, offsets in by_queue.items()
        for record in files.at(queue, offsets)
    }
    came_ms = {
        (name, one.properties.get("UNIQ_KEY", "")): one.stored_at_ms
        for name, again in retries.items()
        for one in again
    }
    open_ones: list[tuple[Checkpoint, list[int]]] = []
    proven: dict[tuple[str, int], int] = {}
    for one, offsets in processed:
        each = (records.get((one.queue, offset)) for offset in offsets)
        came = [_has_come(one, record, came_ms, retries) for record in each]
        if True in came:
            queue, offset = one.record.own_place, one.record.queue_offset
            proven[queue] = max(proven.get(queue, -1), offset)
        lost = [n for n, has in zip(offsets, came, strict=True) if has is False]
        open_ones.append((one, lost))
    for one, lost in open_ones:
        if lost and one.record.queue_offset < proven.get(one.record.own_place, -1):
            yield file_finding(
                "INV-POP-005", *one.record.place, pop=one, lost=_shown(lost)
            )


def _processed(
    store: Store, pops: Iterable[ReviveRecord]
) -> Iterator[tuple[Checkpoint, Sequence[int]]]:
    """Yield the checkpoints that the broker has passed, with their open queue offsets.

    A message with another checkpoint is not open: its invisible time was changed, or
    the broker could not read it yet (Java: rePutCK).
    """
    progress = {
        (one.topic, one.queue): one.offset
        for one in consumed_offsets(store)
        if one.group == REVIVE_GROUP and isinstance(one.offset, int)
    }
    checkpoints = [one for one in pops if isinstance(one, Checkpoint)]
    delivered = [one for one in checkpoints if one.record.topic != TIMER_TOPIC]
    acknowledged = {
        one.message(offset)
        for one in pops
        if not isinstance(one, Checkpoint)
        for offset in one.offsets
    }
    newest: dict[Popped, tuple[int, int]] = {}
    for one in checkpoints:
        for message in one.open_messages:
            newest[message] = max(newest.get(message, (0, 0)), one.times_ms)
    count = Counter(m for one in delivered for m in one.open_messages)
    for one in delivered:
        done = progress.get((one.record.topic, str(one.record.queue_id)), -1)
        if one.record.queue_offset <= done:
            yield (
                one,
                [
                    message[3]
                    for message in one.open_messages
                    if message not in acknowledged
                    and newest[message] == one.times_ms
                    and count[message] == 1
                ],
            )


def _has_come(
    checkpoint: Checkpoint,
    record: QueuedRecord | None,
    came_ms: Mapping[tuple[str, str], int],
    retries: Retries,
) -> bool | None:
    """Return whether a copy of a message came; None if it cannot be known.

    *came_ms* is the store time of the last copy, by retry topic and unique key.
    """
    popped_at_ms = checkpoint.body.popped_at_ms
    if record is None or record.stored_at_ms > popped_at_ms:
        return None  # expired, or of a later topic with this name
    key = record.properties.get("UNIQ_KEY")
    if key is None:
        return None
    for name in checkpoint.retry_topics:
        if came_ms.get((name, key), -1) >= popped_at_ms:
            return True
        first = next(iter(retries.get(name, ())), None)
        if first and first.queue_offset > 0 and first.stored_at_ms > popped_at_ms:
            return None
    return False


def _check_counts(retries: Retries) -> Iterator[Finding]:
    """Yield the messages popped again without a count or their first pop time."""
    for record in (one for _, some in sorted(retries.items()) for one in some):
        text = record.properties.get(POPPED_AT)
        if text is None:
            continue
        is_time = text.isdecimal() and int(text) <= record.stored_at_ms + CLOCK_MS
        if not is_time or record.reconsume_times < 1:
            yield file_finding("INV-POP-006", *record.place, text=text, record=record)


def _shown(offsets: Iterable[int]) -> str:
    return ", ".join(map(str, offsets))
