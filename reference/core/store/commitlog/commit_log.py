"""
The commit log: every message of every topic, in the order of arrival.

A record never crosses the end of a file. A blank fills the rest of a file that the next
record does not fit into. The log also counts the messages of each queue, because a
record contains its queue offset.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.commitlog.dispatch_request import dispatch_request_of
from reference.core.store.commitlog.record_encoder import (
    ILLEGAL,
    CheckMessage,
    EncodedRecords,
    encode_records,
)
from reference.core.store.commitlog.record_reader import (
    Blank,
    ReadResult,
    ScannedRecord,
    read_record,
    stored_at_of,
)
from reference.core.store.commitlog.transient_store_pool import TransientStorePool
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.layouts import blank_codec, record_size_reader
from reference.core.store.mapped.files import Files, FilesError
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from reference.core.store.types import DispatchRequest, NewMessage, Queue, StoreOptions
from spec.store.blank import BLANK_MAGIC, room_for
from spec.store.file_names import COMMIT_LOG

READ_MAX = 1024
"""Records that `read_dispatch_requests` reads in one call."""
_NOTHING = memoryview(b"")


class NoFileError(FilesError):
    """There is no file for the next message, and none can be made."""


class CommitLog:
    """The log's files and the next offset of every queue."""

    def __init__(
        self, files: Files, options: StoreOptions, levels: DelayLevels
    ) -> None:
        self.files = MappedFileQueue(
            files,
            COMMIT_LOG,
            options.commit_log_file_size,
            preallocates_files=options.preallocates_files,
        )
        self.pool: TransientStorePool | None = None
        if options.pool_buffer_count:
            self.pool = TransientStorePool(self.files, options.pool_buffer_count)
        self._writer = self.pool or self.files
        self.next_queue_offsets: dict[Queue, int] = {}
        self.last_stored_at_ms = 0
        """Store time of the last message; 0 without one since the start."""
        self._committed_until_ms = 0
        self._size_max = options.max_message_size
        self._rules = options.rules
        self.levels = levels

    @property
    def committed_until_ms(self) -> int:
        """Store time up to which every message is in the files, not in a pool."""
        if self._writer.end == self.files.end:
            self._committed_until_ms = self.last_stored_at_ms
        return self._committed_until_ms

    def append(
        self,
        messages: Sequence[NewMessage],
        stored_at_ms: int,
        check: CheckMessage | None = None,
        *,
        size_max: int | None = None,
    ) -> EncodedRecords:
        """Append the leading messages that fit into one file, by one write.

        At least the first message has a result. The others are for the next call.
        *check* returns the message to append, or the status of a refused one.
        A given *size_max* replaces maxMessageSize.
        Raises FilesError if the first cannot be written, and leaves no trace of it.
        4.6.0 CommitLog#putMessage and #putMessages.
        """
        writer = self._writer
        while True:
            end = writer.end
            records = encode_records(
                messages,
                self.next_queue_offsets,
                check,
                physical_offset=end,
                room=writer.limit - end,
                stored_at_ms=stored_at_ms,
                size_max=self._size_max if size_max is None else size_max,
            )
            if records.results:
                break
            if not self._make_room(records.size_without_room):
                return records._replace(results=[ILLEGAL])  # [STORE-PUT-011]
        if records.data:
            try:
                writer.append(records.data)  # [STORE-PUT-007] [SEND-BATCH-001]
            except FilesError:
                if len(messages) == 1:
                    raise
                # A disk without space for all of them may have space for some.
                half = messages[: len(messages) // 2]
                return self.append(half, stored_at_ms, check, size_max=size_max)
            self.last_stored_at_ms = stored_at_ms
        self.next_queue_offsets.update(records.next_queue_offsets)
        return records

    def commit(self) -> None:
        """Write the bytes of the pool, if there is one, to the files."""
        if self.pool is not None:
            self.pool.commit()

    def read_dispatch_request(self, offset: int) -> DispatchRequest | None:
        """Return the dispatch request of the record at *offset*, None without one."""
        data = self.files.view(offset) or _NOTHING
        found = read_record(data, 0, self._rules, check_crc=False)
        if not isinstance(found, ScannedRecord):
            return None
        return dispatch_request_of(found, self.levels)

    def read_dispatch_requests(
        self, offset: int
    ) -> tuple[list[DispatchRequest], ReadResult | None]:
        """Read consecutive records of one file from *offset* on, READ_MAX at most.

        Return them with the bytes that stopped the reading, None if more may follow. A
        record that contains another offset than its own is returned alone.
        """
        requests: list[DispatchRequest] = []
        data = self.files.view(offset)
        if data is None:
            return requests, Blank()
        at = 0
        while at < len(data) and len(requests) < READ_MAX:
            found = read_record(data, at, self._rules, check_crc=False)
            if not isinstance(found, ScannedRecord):
                return requests, found
            request = dispatch_request_of(found, self.levels)
            if found.physical_offset != offset + at:
                return requests or [request], None
            requests.append(request)
            at += found.size
        return requests, None

    def record(self, offset: int, size: int) -> memoryview | None:
        """Return the *size* bytes at *offset*; None if the log lacks some of them.

        Offset 0 means the oldest byte there is (4.6.0 CommitLog#getMessage).
        """
        if offset == 0 and self.files.start > 0:
            offset = self.files.start
        return self.files.view(offset, size)

    def record_at(self, offset: int) -> memoryview | None:
        """Return as many bytes as the record size at *offset*; None without them.

        As in 4.6.0, the bytes need not be a record.
        """
        head = self.record(offset, record_size_reader.size)
        return (
            None
            if head is None
            else self.record(offset, *record_size_reader.unpack(head))
        )

    def stored_at(self, offset: int, size: int) -> int:
        """Return the store time of the record at *offset*; -1 without a record."""
        if offset < self.files.start:
            return -1
        data = self.record(offset, size)
        return -1 if data is None else stored_at_of(data)

    def next_file(self, offset: int) -> int:
        """Return the start offset of the file behind that of *offset*."""
        return offset + self.files.file_size - offset % self.files.file_size

    def _make_room(self, size: int) -> bool:
        """Begin the next file if the last has no room for *size* bytes and a blank.

        Return False if no file has. Raises NoFileError if the file cannot be made.
        """
        writer = self._writer
        space = writer.limit - writer.end
        if room_for(size, left=space):
            return True
        if not room_for(size, left=self.files.file_size):
            return False
        if space > 0:
            # A blank may end with any bytes, so the rest of the file stays as it is.
            # [STORE-BLANK-001] [STORE-BLANK-002]
            writer.end_file(blank_codec.pack(space, BLANK_MAGIC))
        try:
            writer.add_file()  # [STORE-LOG-004]
        except FilesError as error:
            raise NoFileError(str(error)) from error
        return True
