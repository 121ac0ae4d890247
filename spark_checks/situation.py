"""Facts about a store that its readers and checks use, apart from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from columns.scan.log_ranges import LogSections
from spark_checks.broker_conf import BrokerConf
from spark_checks.config_files import (
    DELIVERED_OFFSETS,
    TOPICS,
    config_file,
    consumed_path,
    numbers_of,
)
from spark_checks.store_files import Store, queue_file_size, queue_in
from spec.store.batch_queue import BATCH, BATCH_QUEUE, queue_type
from spec.store.earlier_topics import may_be_created_again
from spec.store.file_names import CONFIG_DATABASE, CONSUME_QUEUE, ROCKSDB_CURRENT
from spec.wire.message.topic_names import HALF_TOPIC, TRANSACTION_CHECK_GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Facts about a store, and the sums that its audit requests of the survey."""

    begin: int = 0
    """Commit-log offset at which the audit begins."""
    min_offset: int = 0
    """First commit-log offset that still exists."""
    parts: tuple[tuple[int, int], ...] | None = None
    """Audited ranges of the log, as commit-log offsets; None for all."""
    log_end: int = 0
    """Commit-log offset after the last record."""
    last_file_base: int = 0
    """Start offset of the last file that has a record."""
    last_stored_at_ms: int = 0
    """Store time of the log's last record."""
    queue_file_size: int = 6_000_000
    has_queues_in_rocksdb: bool = False
    """Whether a record without a unit may have one in RocksDB."""
    known_topics: frozenset[str] | None = None
    """Topics with queues or a configuration; None without topics.json."""
    topics_perhaps_created_again: frozenset[str] = frozenset()
    """Topics of :mod:`spec.store.earlier_topics`."""
    only_topics_with_queues: frozenset[str] = frozenset()
    """Topics with queues if RocksDB has the list of topics: others may be gone."""
    batch_topics: frozenset[str] = frozenset()
    """Topics with batch consume queues (since 5.0), or with lost ones."""
    delays: Mapping[int, int] = field(default_factory=dict)
    """Milliseconds of each delay level."""
    delays_are_known: bool = True
    """Whether the delay of each level is configured, not a default."""
    delivered_offsets: Mapping[int, int] = field(default_factory=dict)
    """Queue offset up to which each delay level is delivered, by queue id."""
    checked_offsets: Mapping[int, int] = field(default_factory=dict)
    """Queue offset up to which each half-message queue is checked."""
    key_ranges: Sequence[tuple[int, int]] = ()
    """Ranges of the log in which keys are summed up."""
    sections: LogSections = field(default_factory=LogSections)
    """Sections of the log that have a sum of keys each."""
    block_size: int = 0
    """Queue offsets of a block of a queue, if only blocks have sums; 0 otherwise."""
    needs_system_topics: bool = True
    """Whether to keep a ledger of system topics."""
    is_large: bool = False
    """Whether loading kernels costs less than it saves."""

    @property
    def is_sampled(self) -> bool:
        """Whether only some ranges of the log are audited."""
        return self.parts is not None


def situation_of(store: Store, conf: BrokerConf) -> Situation:
    """Return the situation of *store*."""
    size = conf.queue_file_size or queue_file_size(store)
    batch_topics = {
        path.split("/")[1]
        for path in store.directories
        if path.startswith(f"{BATCH_QUEUE}/")
    }
    empty = store.directories - {one.rpartition("/")[0] for one in store.directories}
    topics = config_file(store, TOPICS)
    are_known = topics.has_table and not store.may_have_config_in_rocksdb
    levels = numbers_of(config_file(store, DELIVERED_OFFSETS).entries)
    consumed = config_file(store, consumed_path(store)).entries
    queued = topics_with_queues(store)
    listed = topics.entries if are_known else {}
    if not store.has_queues_in_rocksdb:  # otherwise batch queues have no files
        batch_topics |= {t for t in listed if queue_type(listed[t]) == BATCH} - queued
    is_in_rocksdb = store.file(f"{CONFIG_DATABASE}/{ROCKSDB_CURRENT}") is not None
    return Situation(
        begin=store.begin,
        min_offset=store.min_offset,
        parts=store.parts,
        sections=LogSections.between(store.min_offset, store.commit_log_end),
        queue_file_size=size or Situation().queue_file_size,
        has_queues_in_rocksdb=store.has_queues_in_rocksdb,
        known_topics=queued.union(listed) if are_known else None,
        topics_perhaps_created_again=may_be_created_again(
            listed=listed,
            queued=queued,
            consumed={
                name.partition("@")[0]
                for name, offsets in consumed.items()
                if any(numbers_of(offsets).values())
            },
            emptied={one for one in listed if f"{CONSUME_QUEUE}/{one}" in empty},
        ),
        only_topics_with_queues=queued if is_in_rocksdb else frozenset(),
        batch_topics=frozenset(batch_topics),
        delays=conf.delays,
        delays_are_known=conf.delays_are_known,
        delivered_offsets={level - 1: offset for level, offset in levels.items()},
        checked_offsets=numbers_of(
            consumed.get(f"{HALF_TOPIC}@{TRANSACTION_CHECK_GROUP}")
        ),
    )


def topics_with_queues(store: Store) -> frozenset[str]:
    """Return the topics of *store* with files of queues."""
    return frozenset(queue_in(file)[0] for file in store.queue_files())
