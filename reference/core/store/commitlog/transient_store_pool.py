"""
The transient store pool: messages wait in memory until a commit to the log's file.

Consumers do not receive uncommitted messages, and a crash loses them although their
producers got a response. The pool separates appends from the system's writes to disk.
It requires a master with ASYNC_FLUSH (Java: TransientStorePool).
"""

from __future__ import annotations

from reference.core.store.flush import has_enough_dirty_pages
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue


class TransientStorePool:
    """The buffers in front of the files of the commit log.

    It has the appending methods of a MappedFileQueue. Its ``end`` is at or behind that
    of the queue, which is the end of the readable log.
    """

    def __init__(self, queue: MappedFileQueue, size: int) -> None:
        self.free = size
        """Number of buffers without a file."""
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
        """Append *data*; return its offset."""
        if self._queue.start_offsets[-1] not in self._with_buffer:
            # The file existed at the start, or was created without a free buffer.
            return self._queue.append(data)  # [STORE-FLUSH-009]
        offset = self.end
        self._waiting += data
        return offset

    def end_file(self, blank: bytes) -> None:
        """Write *blank*; count the rest of the file as written."""
        self.commit()
        self._queue.end_file(blank)

    def add_file(self, start: int = 0) -> None:
        """Create the next file; it and its preallocated file get a buffer each."""
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
        """Return whether *least_pages* dirty pages are waiting for a commit."""
        return has_enough_dirty_pages(
            self._queue.end,
            self.end,
            least_pages=least_pages,
            file_size=self._queue.file_size,
        )

    def commit(self) -> None:
        """Write the waiting bytes to the log's file; FilesError keeps them waiting."""
        if self._waiting:
            self._queue.append(self._waiting)
            self._waiting.clear()
