"""
Check the records of popped messages: revive topics, and messages popped again.

The broker's progress in a revive queue is a consumed offset. A message of a checkpoint
before it was acknowledged, or is in the group's retry topic again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from spark_checks.config_files import GROUPS, TOPICS, config_file, consumed_offsets
from spark_checks.counting_rules import POPPED_AT
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.pop.revive_records import (
    Popped,
    ReviveRecord,
    check_record,
    revive_record,
)
from spark_checks.invariants.queue_records import QueuedRecord, QueueFiles
from spark_checks.store_files import Store
from spec.wire.message.topic_names import TIMER_TOPIC
from spec.wire.pop.pop_bodies import CHECKPOINT_TAG, REVIVE_GROUP, REVIVE_TOPIC_PREFIX
from spec.wire.pop.pop_topics import next_topics, popped_topic

RECORDS_MAX = 10_000
"""Records that are read of each queue, from the last one back."""
CLOCK_MS = 10_000
"""Milliseconds by which a clock may have been corrected."""


class Pops:
    """Records of all pops of a store that are readable."""

    def __init__(
        self, waiting: Iterable[QueuedRecord], delivered: Iterable[QueuedRecord]
    ) -> None:
        in_timer = [*filter(None, map(revive_record, waiting))]
        found = [*filter(None, map(revive_record, delivered))]
        self.checkpoints = [one for one in found if one.tag == CHECKPOINT_TAG]
        """Checkpoints in revive topics, in the order of their queues."""
        self.acknowledgements = [one for one in found if one.tag != CHECKPOINT_TAG]
        self.waiting = [one for one in in_timer if one.tag == CHECKPOINT_TAG]
        """Checkpoints that wait in the timer's topic, or waited there."""
        self.acknowledged = {
            one.message(offset)
            for one in (*found, *in_timer)
            if one.tag != CHECKPOINT_TAG
            for offset in one.offsets
        }
        """Every message that an acknowledgement names."""


def check_pop(store: Store) -> Iterator[Finding]:
    """Yield the findings in the revive topics of *store*, and in what came of them."""
    begin = f"consumequeue/{REVIVE_TOPIC_PREFIX}"
    if not any(file.path.startswith(begin) for file in store.files):
        return
    files = QueueFiles(store)
    waiting = [
        record
        for record in files.reader(TIMER_TOPIC, 0).last(RECORDS_MAX)
        if record.properties.get("REAL_TOPIC", "").startswith(REVIVE_TOPIC_PREFIX)
    ]
    delivered = [
        record
        for topic, queue_id in sorted(files.of_queue)
        if topic.startswith(REVIVE_TOPIC_PREFIX)
        for record in files.reader(topic, queue_id).last(RECORDS_MAX)
    ]
    by_invariant: dict[str, list[Finding]] = defaultdict(list)
    for record in (*waiting, *delivered):
        for finding in check_record(record):
            by_invariant[finding.invariant.id].append(finding)
    pops = Pops(waiting, delivered)
    retries = _retries(files, pops)
    for found in (
        *by_invariant.values(),
        _check_acknowledgements(pops),
        _check_popped_again(files, pops, retries),
        _check_counts(retries),
    ):
        yield from islice(found, LISTED_MAX)


def _check_acknowledgements(pops: Pops) -> Iterator[Finding]:
    """Yield the acknowledgements of other messages than their checkpoint has.

    One without a checkpoint is legal. A client may repeat it, and the broker does not
    write a checkpoint whose messages are all acknowledged (5.3.3
    broker.processor.PopBufferMergeService#scan).
    """
    of_pop = {one.identity: one for one in pops.checkpoints}
    for one in pops.acknowledgements:
        checkpoint = of_pop.get(one.identity)
        if checkpoint is None:
            continue
        others = [n for n in one.offsets if n not in checkpoint.offsets]
        if others:
            yield file_finding(
                "INV-POP-004",
                one.record.file,
                one.record.place,
                expected=f"queue offsets of {_listed(checkpoint.offsets)}",
                found=_listed(others),
            )


def _check_popped_again(
    files: QueueFiles, pops: Pops, retries: Mapping[str, Sequence[QueuedRecord]]
) -> Iterator[Finding]:
    """Yield the processed checkpoints with a message that is lost.

    A checkpoint counts as processed if a later one of its revive queue certainly is: a
    message of that one is in the retry topic. The log of a slave, or a copy of a store,
    may be older than the consumed offset.
    """
    store = files.store
    groups, topics = (config_file(store, path).entries for path in (GROUPS, TOPICS))
    processed = [
        (one, messages)
        for one, messages in _processed(store, pops)
        if one.group in groups and popped_topic(one.topic, group=one.group) in topics
    ]
    again = _Again(files, {m for _, messages in processed for m in messages}, retries)
    open_ones: list[tuple[ReviveRecord, list[Popped]]] = []
    proven: dict[tuple[str, int], int] = {}
    for one, messages in processed:
        came = [again.has(one, message) for message in messages]
        lost = [m for m, has in zip(messages, came, strict=True) if has is False]
        if True in came:
            queue = one.record.topic, one.record.queue_id
            proven[queue] = max(proven.get(queue, -1), one.record.queue_offset)
        if lost:
            open_ones.append((one, lost))
    for one, lost in open_ones:
        queue = one.record.topic, one.record.queue_id
        if one.record.queue_offset < proven.get(queue, -1):
            yield file_finding(
                "INV-POP-005",
                one.record.file,
                one.record.place,
                expected="an acknowledgement of each message, or the message in a"
                " retry topic",
                found=f"neither for {_listed([m[3] for m in lost])} of queue"
                f" {one.queue_id} of {one.topic}, group {one.group}",
            )


def _processed(
    store: Store, pops: Pops
) -> Iterator[tuple[ReviveRecord, Sequence[Popped]]]:
    """Yield the checkpoints that the broker has passed, with their open messages.

    A message with another checkpoint is not open: its invisible time was changed, or
    the broker could not read it yet (Java: rePutCK).
    """
    progress = _progress(store)
    newest: dict[Popped, tuple[int, int]] = {}
    for one in (*pops.waiting, *pops.checkpoints):
        for message in one.open_messages:
            newest[message] = max(newest.get(message, (0, 0)), _time_of(one))
    count = Counter(m for one in pops.checkpoints for m in one.open_messages)
    for one in pops.checkpoints:
        done = progress.get((one.record.topic, one.record.queue_id), -1)
        if one.record.queue_offset > done:
            continue
        messages = [
            message
            for message in one.open_messages
            if message not in pops.acknowledged
            and newest[message] == _time_of(one)
            and count[message] == 1
        ]
        if messages:
            yield one, messages


def _time_of(checkpoint: ReviveRecord) -> tuple[int, int]:
    return checkpoint.popped_at_ms, checkpoint.due_ms


class _Again:
    """Messages of pops, read where they are, and their copies in *retries*."""

    def __init__(
        self,
        files: QueueFiles,
        messages: Iterable[Popped],
        retries: Mapping[str, Sequence[QueuedRecord]],
    ) -> None:
        offsets: dict[tuple[str, int], set[int]] = defaultdict(set)
        for topic, _, queue_id, offset in messages:
            offsets[topic, queue_id].add(offset)
        self._records = {
            (topic, queue_id, record.queue_offset): record
            for (topic, queue_id), numbers in offsets.items()
            for record in files.reader(topic, queue_id).at(numbers)
        }
        self._retries = retries
        self._came_ms = {
            (name, one.properties.get("UNIQ_KEY", "")): one.stored_at_ms
            for name, records in retries.items()
            for one in records
        }
        """Store time of the last copy, by retry topic and unique key."""

    def has(self, checkpoint: ReviveRecord, message: Popped) -> bool | None:
        """Return whether a copy of *message* came; None if it cannot be known."""
        topic, _, queue_id, offset = message
        found = self._records.get((topic, queue_id, offset))
        if found is None or found.stored_at_ms > checkpoint.popped_at_ms:
            return None  # expired, or of a later topic with this name
        key = found.properties.get("UNIQ_KEY")
        if key is None:
            return None
        for name in next_topics(checkpoint.topic, group=checkpoint.group):
            if self._came_ms.get((name, key), -1) >= checkpoint.popped_at_ms:
                return True
            records = self._retries.get(name)
            is_cut = records and records[0].queue_offset > 0
            if records and is_cut and records[0].stored_at_ms > checkpoint.popped_at_ms:
                return None
        return False


def _retries(files: QueueFiles, pops: Pops) -> Mapping[str, Sequence[QueuedRecord]]:
    """Return the last records of each retry topic of a checkpoint."""
    names = {
        name
        for one in pops.checkpoints
        for name in next_topics(one.topic, group=one.group)
    }
    return {name: files.reader(name, 0).last(RECORDS_MAX) for name in names}


def _check_counts(
    retries: Mapping[str, Sequence[QueuedRecord]],
) -> Iterator[Finding]:
    """Yield the messages popped again without a count or their first pop time."""
    for _, records in sorted(retries.items()):
        for record in records:
            text = record.properties.get(POPPED_AT)
            if text is None:
                continue
            is_time = text.isdecimal() and int(text) <= record.stored_at_ms + CLOCK_MS
            if not is_time or record.reconsume_times < 1:
                yield file_finding(
                    "INV-POP-006",
                    record.file,
                    record.place,
                    expected=f"an earlier time in {POPPED_AT}, and a delivery",
                    found=f"{text} and {record.reconsume_times} deliveries",
                )


def _progress(store: Store) -> Mapping[tuple[str, int], int]:
    """Return the last processed queue offset of each revive queue."""
    return {
        (one.topic, int(one.queue)): one.offset
        for one in consumed_offsets(store)
        if one.group == REVIVE_GROUP
        and one.queue.isdecimal()
        and isinstance(one.offset, int)
    }


def _listed(offsets: Iterable[int]) -> str:
    return ", ".join(map(str, offsets))
