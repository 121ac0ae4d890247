"""
The consume queues of a store, by topic and queue id.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.extension import QueueExtension
from reference.core.store.mapped.files import Files
from reference.core.store.types import Queue
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import TOPIC_LENGTH_MAX

_NO_DIRECTORY = frozenset(("", ".", ".."))


class ConsumeQueueTable:
    """All consume queues; one is made when its first message arrives."""

    def __init__(
        self, files: Files, file_size: int, extension_file_size: int = 0
    ) -> None:
        self._files = files
        # [STORE-QUEUE-010]
        self._file_size = -(-file_size // UNIT_SIZE) * UNIT_SIZE
        self._extension_file_size = extension_file_size
        """Bytes of a file of an extension; 0 for queues without."""
        self.table: dict[Queue, ConsumeQueue] = {}
        """The queues by topic and queue id."""

    def __iter__(self) -> Iterator[ConsumeQueue]:
        return iter(list(self.table.values()))

    def load(self) -> None:
        """Map the existing queues; other directories are ignored."""
        for topic in self._files.names("consumequeue"):
            for name in self._files.names(f"consumequeue/{topic}"):
                if name.isascii() and name.isdigit():
                    self._create(topic, int(name)).load()

    def create(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        """Return a new queue; None if its directory cannot be named."""
        if queue_id < 0 or not is_directory_name(topic):
            return None
        return self._create(topic, queue_id)

    @property
    def max_physical_offset(self) -> int:
        """Highest end of a queue's last record in the log; -1 without messages."""
        return max((one.max_physical_offset for one in self), default=-1)

    def delete(self, queue: ConsumeQueue) -> None:
        """Delete *queue* with its files."""
        queue.destroy()
        self.table.pop((queue.topic, queue.queue_id), None)

    def _create(self, topic: str, queue_id: int) -> ConsumeQueue:
        files, extension = self._files, None
        if self._extension_file_size:
            size = self._extension_file_size
            extension = QueueExtension(files, topic, queue_id, size)
        queue = ConsumeQueue(
            files, topic, queue_id, self._file_size, extension=extension
        )
        self.table[topic, queue_id] = queue
        return queue


@lru_cache(maxsize=16_384)
def is_directory_name(topic: str) -> bool:
    """Return whether *topic* can be the name of its queues' directory."""
    if "/" in topic or "\0" in topic or topic in _NO_DIRECTORY:
        return False
    return topic.isascii() or len(topic.encode("utf-8", "replace")) <= TOPIC_LENGTH_MAX
