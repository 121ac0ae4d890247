"""
All consume queues of a store during a start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain

from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.recovery_forecast.store_view import (
    StoreView,
    ViewError,
    load_files,
    seen_batch_file_size,
)
from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.recovery.load import is_offset
from reference.core.store.recovery.queue_end import FILES_TO_RECOVER
from reference.core.store.recovery.rules import RecoveryRules
from reference.core.store.types import Queue, StoreOptions
from spec.integers import INT32_MAX
from spec.store.batch_queue import (
    BATCH,
    BATCH_QUEUE,
    SIMPLE,
    BatchUnit,
    decode_batch_units,
)
from spec.store.batch_queue import UNIT_SIZE as BATCH_UNIT_SIZE
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE, ROCKSDB_CURRENT, ROCKSDB_QUEUES
from spec.store.queue_extension import EXTENSION


class QueuesState:
    """The queues by topic and queue id. Dispatch creates missing ones."""

    def __init__(
        self, view: StoreView, options: StoreOptions, rules: RecoveryRules
    ) -> None:
        file_size = options.consume_queue_file_size
        self._file_size = -(-file_size // UNIT_SIZE) * UNIT_SIZE
        self._extension_file_size = options.extension_file_size
        self._batch_file_size = seen_batch_file_size(view)
        self._view = view
        self._rules = rules
        self._queues: dict[Queue, QueueState] = {}
        self.batch_topics = frozenset(
            topic
            for topic, directory in self._batch_queues
            if any(one.size for one in view.entries(directory))
        )
        """Topics with units in batch consume queues. Only their ends are read."""
        self.emptied: set[str] = set()
        """Topics with an empty directory."""
        self._files: set[str] = set()
        """Paths of files that may be in the place of a directory."""
        self.obstacle: str | None = None
        """The one of them at which dispatch has stopped, or None."""

    def __iter__(self) -> Iterator[QueueState]:
        return iter(self._queues.values())

    def get(self, topic: str, queue_id: int) -> QueueState | None:
        """Return a queue, or None."""
        return self._queues.get((topic, queue_id))

    def load(self) -> None:
        """Load the existing queues. Raise StartRefusedError at the first wrong file."""
        for directory in ROCKSDB_QUEUES:
            if self._view.exists(f"{directory}/{ROCKSDB_CURRENT}"):
                raise ViewError(
                    f"the consume queues are in RocksDB ({directory}), which is not"
                    " read: no start is forecast"
                )
        if self._view.text(CONSUME_QUEUE) is not None:
            self._files.add(CONSUME_QUEUE)
        for topic in self._view.entries(CONSUME_QUEUE):
            path = f"{CONSUME_QUEUE}/{topic.name}"
            queues = self._view.entries(path)
            self._files |= {path} if topic.size is not None else set()
            self.emptied |= {topic.name} if not queues else set()
            self._files |= {
                f"{path}/{one.name}" for one in queues if one.size is not None
            }
            for queue in queues:
                if _is_queue_id(queue.name):
                    self._load(topic.name, queue.name)
        if self._rules.has_timer:
            for _, directory in self._batch_queues:
                load_files(self._view, directory, self._batch_file_size, self._rules)

    def types(self) -> Iterator[tuple[str, str]]:
        """Yield each topic with queues, and their type in its attribute queue.type."""
        for topic in sorted({topic for topic, _ in self._queues}):
            yield topic, SIMPLE
        for topic in sorted({topic for topic, _ in self._batch_queues}):
            yield topic, BATCH

    def take(self, record: ScannedRecord) -> None:
        """Dispatch a record of the log to its queue.

        A queue whose directory cannot be created stops the dispatch to all (4.6.0
        org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfoWrapper).
        """
        if self.obstacle is None and self.has(record):
            if record.queue not in self._queues:
                self._add(record.queue, {})
            queue = self._queues[record.queue]
            if not queue.start_offsets:
                self.obstacle = self._file_in_place_of(*record.queue)
            if self.obstacle is None:
                queue.put(record)

    def has(self, record: ScannedRecord) -> bool:
        """Return whether a record gets a unit in one of these queues."""
        return record.is_consumable and record.queue[0] not in self.batch_topics

    def _file_in_place_of(self, topic: str, queue_id: int) -> str | None:
        """Return the path of a file in the place of a queue's directory, or None."""
        path = f"{CONSUME_QUEUE}/{topic}"
        paths = CONSUME_QUEUE, path, f"{path}/{queue_id}"
        return next((one for one in paths if one in self._files), None)

    @property
    def max_physical_offset(self) -> int:
        """Highest physical offset (end) of all queues; -1 without units."""
        ends = (queue.end.max_physical_offset for queue in self)
        return max(chain(ends, (self._batch_end,)))

    @cached_property
    def _batch_end(self) -> int:
        """Commit-log offset of the last batch that a queue has; -1 without one.

        5.3.3 org.apache.rocketmq.store.queue.BatchConsumeQueue#recover. Releases up to
        4.9 have no such queues.
        """
        directories = self._batch_queues if self._rules.has_timer else ()
        return max(
            (
                unit.commit_log_offset
                for _, directory in directories
                for unit in self._last_batches(directory)
            ),
            default=-1,
        )

    @cached_property
    def _batch_queues(self) -> list[tuple[str, str]]:
        """Topic and directory of each batch consume queue (since 5.0)."""
        return [
            (topic.name, f"{BATCH_QUEUE}/{topic.name}/{queue.name}")
            for topic in self._view.entries(BATCH_QUEUE)
            for queue in self._view.entries(f"{BATCH_QUEUE}/{topic.name}")
            if _is_queue_id(queue.name)
        ]

    def _last_batches(self, directory: str) -> Iterator[BatchUnit]:
        """Yield the units in the last files of a batch consume queue."""
        for file in self._view.entries(directory)[-FILES_TO_RECOVER:]:
            if file.size and is_offset(file.name):
                data = self._view.data(f"{directory}/{file.name}")
                whole = file.size - file.size % BATCH_UNIT_SIZE
                yield from decode_batch_units(data[:whole])

    def _load(self, topic: str, name: str) -> None:
        directory = f"{CONSUME_QUEUE}/{topic}/{name}"
        found = load_files(self._view, directory, self._file_size, self._rules)
        if self._extension_file_size:
            # 4.6.0 org.apache.rocketmq.store.ConsumeQueue#load loads both.
            extension = f"{EXTENSION}/{topic}/{name}"
            load_files(self._view, extension, self._extension_file_size, self._rules)
        paths = {int(one): f"{directory}/{one}" for one in found.names}
        self._add((topic, int(name)), paths)

    def _add(self, name: Queue, paths: Mapping[int, str]) -> None:
        """Add the queue with the files *paths*, by start offset."""
        self._queues[name] = QueueState(
            name, paths, self._file_size, self._view, self._rules
        )


def _is_queue_id(name: str) -> bool:
    return name.isascii() and name.isdigit() and int(name) <= INT32_MAX
