"""
Messages of the timer's topic, compared with the units that point at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spark_checks.findings import Finding, Invariant
from spark_checks.invariants.file_findings import (
    begin_of,
    file_finding,
    severity_if_closed,
)
from spark_checks.invariants.timer.timer_units import LISTED_MAX, TimerLog
from spark_checks.readers.schemas import as_dtype
from spark_checks.store_files import Store, queue_of, read_json, reading
from spec.derive.numpy_dtype import dtype_spec
from spec.integers import java_string_hash
from spec.layout import LayoutError
from spec.store.config.config_files import TOPICS_FILE
from spec.store.consume_queue import UNIT_SIZE, unit_layout
from spec.store.message_record import decode_record
from spec.store.timer import timer_log
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC

MESSAGE = Invariant(
    id="INV-TIMER-004",
    title="A timer unit points at a message of the timer's topic",
    requirement=timer_log.TIMER_UNIT_MESSAGE,
    cost="The message is not delivered at its time.",
)
_units = as_dtype(dtype_spec(unit_layout))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueue:
    """Consume queue of the timer's topic."""

    sizes: Mapping[int, int]
    """Size of each message by its commit-log offset."""
    begin: int
    """First queue offset that still exists."""

    @property
    def end(self) -> int:
        """Queue offset behind the last message."""
        return self.begin + len(self.sizes)


def topic_queue(store: Store) -> TopicQueue | None:
    """Return the queue of the timer's topic; None without messages."""
    files = [
        file for file in store.consume_queues if queue_of(file.path) == (TIMER_TOPIC, 0)
    ]
    sizes: dict[int, int] = {}
    for file in files:
        data = begin_of(store, file, file.size - file.size % UNIT_SIZE)
        units = np.frombuffer(data, dtype=_units)
        units = units[units["size"] > 0]
        sizes.update(
            zip(
                units["commit_log_offset"].tolist(), units["size"].tolist(), strict=True
            )
        )
    if not sizes:
        return None
    return TopicQueue(sizes=sizes, begin=(files[0].base or 0) // UNIT_SIZE)


def check_messages(store: Store, log: TimerLog, queue: TopicQueue) -> Iterator[Finding]:
    """Yield the units that do not match a message of the timer's topic."""
    least = min(queue.sizes) if queue.begin else 0
    hashes = _known_hashes(store)
    rows = zip(
        *(
            log.units[name].tolist()
            for name in ("commit_log_offset", "record_size", "topic_hash")
        ),
        strict=True,
    )
    listed = 0
    for index, (offset, size, topic_hash) in enumerate(rows):
        if listed == LISTED_MAX or 0 <= offset < max(least, store.min_offset):
            continue
        if queue.sizes.get(offset) == size and (
            topic_hash in hashes or topic_hash == _real_hash(store, offset, size)
        ):
            continue
        listed += 1
        place = log.place(index)
        yield file_finding(
            MESSAGE,
            place.file,
            (place.offset, place.length),
            expected=f"offset, size and topic of a message of {TIMER_TOPIC}",
            found=f"offset {offset}, size {size}, topic's hash {topic_hash}",
            severity=severity_if_closed(store),
        )


def _known_hashes(store: Store) -> set[int]:
    """Return the hashes of all topics that are configured or have queues."""
    queues = (queue_of(file.path) for file in store.consume_queues)
    topics = {queue[0] for queue in queues if queue}
    for file in store.under("config"):
        found = read_json(store.url, file) if file.name == TOPICS_FILE else None
        table = found.get("topicConfigTable") if isinstance(found, dict) else None
        topics |= set(map(str, table)) if isinstance(table, dict) else set()
    return {java_string_hash(topic) for topic in topics}


def _real_hash(store: Store, offset: int, size: int) -> int | None:
    """Return the hash of the real topic of the record at *offset*; None if unknown."""
    for file in store.commit_log:
        base = file.base or 0
        if base <= offset < base + file.size:
            with reading(store.url, file.path) as read_at:
                data = read_at(offset - base, size)
            try:
                record = decode_record(data, check_crc=False)
                place = real_place(decode_properties(record.properties))
            except LayoutError:
                return None
            return java_string_hash(place.topic)
    return None
