"""
The transient store pool: messages wait in memory, and go to the log's file in rounds.

Until they are committed nobody reads them, and they die with the process, although
their producers were answered. It keeps the writing of messages apart from the
system's writing to disk, and works only without SYNC_FLUSH and on a master.
"""

from __future__ import annotations

from reference.core.store.flush.flush_policy import has_enough_dirty_pages
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue


class TransientStorePool:
    """The buffers in front of the files of the commit log.

    It is written to as a MappedFileQueue is. Its ``end`` runs before that of the queue,
    which is how far the log can be read.
    """

    def __init__(self, queue: MappedFileQueue, size: int) -> None:
        self.free = size
        """Buffers that no file has."""
        self._queue = queue
        self._waiting = bytearray()
        self._with_buffer: set[int] = set()

    @property
    def end(self) -> int:
        """Offset behind the last byte written."""
        return self._queue.end + len(self._waiting)

    @property
    def limit(self) -> int:
        """Offset behind the last byte of the last file; 0 without files."""
        return self._queue.limit

    def append(self, data: bytes | bytearray) -> int:
        """Write *data* behind the last byte; return where."""
        if self._queue.start_offsets[-1] not in self._with_buffer:
            # The file was there at the start, or the pool was empty when it was made.
            return self._queue.append(data)  # [STORE-FLUSH-009]
        offset = self.end
        self._waiting += data
        return offset

    def end_file(self, blank: bytes) -> None:
        """Write *blank*; count the rest of the file as written, whatever it holds."""
        self.commit()
        self._queue.end_file(blank)

    def add_file(self, start: int = 0) -> None:
        """Make the next file; the pool lends it a buffer, and one to its spare file."""
        self.commit()
        full = self._queue.start_offsets[-1:]
        self._queue.add_file(start)
        self.free += len(self._with_buffer.intersection(full))
        self._with_buffer.difference_update(full)
        end = self._queue.limit
        for start in (end - self._queue.file_size, end):
            if self.free and start not in self._with_buffer:
                self._with_buffer.add(start)
                self.free -= 1

    def is_due(self, least_pages: int) -> bool:
        """Return whether enough waits for a commit."""
        return has_enough_dirty_pages(
            self._queue.end,
            self.end,
            least_pages=least_pages,
            file_size=self._queue.file_size,
        )

    def commit(self) -> None:
        """Write what waits to the log's file; what the disk refuses goes on waiting."""
        if self._waiting:
            self._queue.append(self._waiting)
            self._waiting.clear()
