"""
All consume queues of a store during a start.
"""

from __future__ import annotations

from collections.abc import Iterator

from reference.core.start.queue_state import QueueState
from reference.core.start.view import StoreView, ViewError
from reference.core.store.recovery_loading import Entry, loading
from reference.core.store.recovery_rules import RecoveryRules
from reference.core.store.recovery_scan import Sighted
from spec.integers import INT32_MAX
from spec.store.file_names import CONSUME_QUEUE

BATCH_QUEUE = "batchconsumequeue"


class StrayQueueFileError(Exception):
    """A file among those of a queue keeps the broker from starting."""

    def __init__(self, directory: str, entry: Entry) -> None:
        super().__init__(f"{directory}/{entry.name}")
        self.directory = directory
        self.entry = entry


class QueuesState:
    """The queues by topic and number; dispatch makes those that are missing."""

    def __init__(self, view: StoreView, file_size: int, rules: RecoveryRules) -> None:
        self.file_size = file_size
        self.deleted_files: list[str] = []
        """Empty files that the start deletes."""
        self._view = view
        self._rules = rules
        self._queues: dict[tuple[str, int], QueueState] = {}
        self.elsewhere = frozenset(one.name for one in view.entries(BATCH_QUEUE))
        """Topics whose queues are of another kind (since 5.0); nobody looks at them."""

    def __iter__(self) -> Iterator[QueueState]:
        return iter(self._queues.values())

    def get(self, topic: str, queue_id: int) -> QueueState | None:
        """Return a queue, None where there is none."""
        return self._queues.get((topic, queue_id))

    def load(self) -> None:
        """Take up the queues that are there."""
        if self._view.exists(f"{CONSUME_QUEUE}/CURRENT"):
            raise ViewError("the consume queues are a RocksDB, which is not read here")
        for topic in self._view.entries(CONSUME_QUEUE):
            for queue in self._view.entries(f"{CONSUME_QUEUE}/{topic.name}"):
                if _is_queue_id(queue.name):
                    self._load(topic.name, queue.name)

    def take(self, record: Sighted) -> None:
        """Give a record of the log to its queue."""
        if self.has(record):
            self._get_or_make(record).put(record)

    def has(self, record: Sighted) -> bool:
        """Return whether a record belongs into one of these queues."""
        topic = str(record.topic, "utf-8", "replace")
        return record.is_consumable and topic not in self.elsewhere

    @property
    def reach(self) -> int:
        """How far in the log any queue knows of; -1 without units."""
        return max((queue.end.physical for queue in self), default=-1)

    def _load(self, topic: str, name: str) -> None:
        directory = f"{CONSUME_QUEUE}/{topic}/{name}"
        found = loading(self._view.entries(directory), self.file_size, self._rules)
        if found.stray is not None:
            raise StrayQueueFileError(directory, found.stray)
        self.deleted_files += [f"{directory}/{one}" for one in found.deleted]
        paths = {int(one): f"{directory}/{one}" for one in found.names}
        self._queues[topic, int(name)] = QueueState(
            (topic, int(name)),
            sorted(paths),
            self.file_size,
            lambda base: self._view.data(paths[base]),
            self._rules,
        )

    def _get_or_make(self, record: Sighted) -> QueueState:
        key = (str(record.topic, "utf-8", "replace"), record.queue_id)
        queue = self._queues.get(key)
        if queue is None:
            queue = QueueState(key, [], self.file_size, _no_file, self._rules)
            self._queues[key] = queue
        return queue


def _is_queue_id(name: str) -> bool:
    return name.isascii() and name.isdigit() and int(name) <= INT32_MAX


def _no_file(base: int) -> memoryview:
    raise KeyError(base)
