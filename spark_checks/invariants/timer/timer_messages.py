"""
Messages of the timer's topic, compared with the units that point at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spark_checks.config_files import TOPICS, config_file
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueueFiles, record_at
from spark_checks.invariants.timer.timer_units import TimerLog
from spark_checks.situation import known_topics
from spark_checks.store_files import Store, reading
from spec.integers import java_string_hash
from spec.layout import LayoutError
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC


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
    queues = QueueFiles(store)
    files = queues.of_queue[TIMER_TOPIC, 0]
    sizes: dict[int, int] = {}
    for file in files:
        units = queues.units_in(file)
        units = units[units["size"] > 0]
        places = units["commit_log_offset"].tolist(), units["size"].tolist()
        sizes.update(zip(*places, strict=True))
    if not sizes:
        return None
    return TopicQueue(sizes=sizes, begin=(files[0].base or 0) // UNIT_SIZE)


def check_messages(store: Store, log: TimerLog, queue: TopicQueue) -> Iterator[Finding]:
    """Yield the units that do not match a message of the timer's topic."""
    least = min(queue.sizes) if queue.begin else 0
    hashes = set(map(java_string_hash, known_topics(store, config_file(store, TOPICS))))
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
            topic_hash in hashes or topic_hash == _real_hash(store, offset)
        ):
            continue
        listed += 1
        values = {"offset": offset, "size": size, "topic_hash": topic_hash}
        yield file_finding("INV-TIMER-004", *log.place(index), **values)


def _real_hash(store: Store, offset: int) -> int | None:
    """Return the hash of the real topic of the record at *offset*; None if unknown."""
    file = store.log_file_at(offset)
    if file is None:
        return None
    with reading(store.url, file.path) as read_at:
        try:
            record = record_at(read_at, file, offset - (file.base or 0))
            place = real_place(record.properties)
        except LayoutError:
            return None
    return java_string_hash(place.topic)
