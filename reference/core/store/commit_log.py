"""
The commit log: every message of every topic, in the order of arrival.

A record never crosses the end of a file. Where the next one does not fit, a blank
fills the rest, and the record begins the next file. The log also knows which
offset comes next in each queue, because a record carries it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from reference.core.store.api import (
    NewMessage,
    PutResult,
    PutStatus,
    StoreOptions,
    new_tuple,
)
from reference.core.store.batch import (
    BatchError,
    batch_size,
    one_by_one,
    split_batch,
)
from reference.core.store.batch_at_once import at_once
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.file_queue import FileQueue
from reference.core.store.files import Files, FilesError
from reference.core.store.layouts import blank_codec
from reference.core.store.records import (
    BORN_V6,
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
    Columns,
    Found,
    Unreadable,
    encode_new,
    find_record,
    flags_with_hosts,
    new_size,
    told_by,
)
from reference.core.store.row_at_once import Row, UnusualError, row_at_once
from reference.core.store.transient_pool import TransientPool
from spec.store.blank import BLANK_MAGIC, room_for
from spec.store.file_names import COMMIT_LOG
from spec.wire.properties import SIZE_MAX as PROPERTIES_SIZE_MAX

STORED = PutStatus.PUT_OK  # an enumeration is slow to ask for its members
ILLEGAL = PutResult(PutStatus.MESSAGE_ILLEGAL)
_FRESH_MAX = 65_536
"""Of records that wait for dispatch; those before them are read from the files."""


_UNTOLD_MAX = 256


class NoFileError(FilesError):
    """There is no file for the next message, and none can be made."""


class CommitLog:
    """The log's files and the next offset of every queue."""

    def __init__(
        self, files: Files, options: StoreOptions, levels: DelayLevels
    ) -> None:
        self.queue = FileQueue(
            files,
            COMMIT_LOG,
            options.commit_log_file_size,
            has_spare_file=options.has_spare_file,
        )
        self.pool: TransientPool | None = None
        if options.pool_buffer_count:
            self.pool = TransientPool(self.queue, options.pool_buffer_count)
        self._writer = self.pool or self.queue
        self.next_queue_offsets: dict[tuple[str, int], int] = {}
        self.last_stored_at_ms = 0
        """When the last message was stored; 0 if none was since the start."""
        self._in_files_until_ms = 0
        self.check_crc_on_recover = options.check_crc_on_recover
        self._size_max = options.max_message_size
        self._levels = levels
        self._topics: dict[str, bytes] = {}
        self._fresh: deque[Found] = deque(maxlen=_FRESH_MAX)
        self._untold: list[tuple[NewMessage, Columns, int]] = []
        """What was appended of which nobody has asked yet what it says."""

    @property
    def in_files_until_ms(self) -> int:
        """A store time up to which every message is in the files, and not in a pool."""
        if self._writer.end == self.queue.end:
            self._in_files_until_ms = self.last_stored_at_ms
        return self._in_files_until_ms

    @property
    def fresh(self) -> deque[Found]:
        """What the last records say, which dispatch need not read; some may lack.

        It is made of them when it is asked for: producers are answered before.
        """
        self._tell()
        return self._fresh

    def _tell(self) -> None:
        """Make of what was appended what dispatch need not read."""
        for message, columns, flags in self._untold:
            found = told_by(message, columns, flags)
            if found is not None:
                self._fresh.append(found)
        self._untold.clear()

    def append(self, message: NewMessage, stored_at_ms: int) -> PutResult:
        """Store *message* and return where."""
        topic = self._topics.get(message.topic) or self._encoded_topic(message.topic)
        properties = encoded(message.properties)
        flags = flags_with_hosts(message)
        size = new_size(message, topic, properties, flags)
        if size > self._size_max or len(properties) > PROPERTIES_SIZE_MAX:
            return ILLEGAL
        if not self._make_room(size):
            return ILLEGAL
        key = (message.topic, message.queue_id)
        queue_offset = self.next_queue_offsets.get(key, 0)
        is_consumable = (flags & TRANSACTION_MASK) not in NOT_CONSUMABLE
        if not is_consumable:
            queue_offset = 0  # [STORE-ACCEPT-008]
        offset = self._writer.end
        where = topic, properties, queue_offset, offset, stored_at_ms, size
        columns = new_tuple(Columns, where)
        # [STORE-ACCEPT-007]
        self._writer.append(encode_new(message, columns, flags))
        if self.pool is None:
            self._untold.append((message, columns, flags))
            if len(self._untold) >= _UNTOLD_MAX:
                self._tell()  # nobody asks, and bodies are large
        if is_consumable:
            self.next_queue_offsets[key] = queue_offset + 1  # [STORE-RECORD-005]
        self.last_stored_at_ms = stored_at_ms
        own_id = message_id(message, offset)
        stored = STORED, offset, size, queue_offset, own_id, stored_at_ms, 1
        return new_tuple(PutResult, stored)

    def append_batch(self, message: NewMessage, stored_at_ms: int) -> PutResult:
        """Store the messages in the body of *message*, all in one file or none."""
        topic = self._topics.get(message.topic) or self._encoded_topic(message.topic)
        flags = flags_with_hosts(message)
        try:
            spans = split_batch(message.body)
        except BatchError:
            return PutResult(PutStatus.UNKNOWN_ERROR)
        size = batch_size(message, spans, topic, flags)
        if size > self._size_max:
            return PutResult(PutStatus.UNKNOWN_ERROR)
        if not self._make_room(size):
            return ILLEGAL
        key = (message.topic, message.queue_id)
        offset = self._writer.end
        queue_offset = self.next_queue_offsets.get(key, 0)
        first = Columns(topic, b"", queue_offset, offset, stored_at_ms, 0)
        written = at_once(message, spans, first, flags)
        if written is None:
            written = one_by_one(message, spans, first, flags)
        self._writer.append(written.data)  # [SEND-BATCH-001]
        if self.pool is None:
            self.fresh.extend(written.told)
        self.next_queue_offsets[key] = queue_offset + len(spans)
        self.last_stored_at_ms = stored_at_ms
        return PutResult(
            STORED,
            offset,
            size,
            queue_offset,
            message_ids(message, written.offsets),
            stored_at_ms,
            len(spans),
        )

    def row_of(self, messages: Sequence[NewMessage], stored_at_ms: int) -> Row | None:
        """Return what `append_row` stores of *messages*, all of one peer.

        None where they have to be stored one by one.
        """
        if self.pool is not None:
            return None
        try:
            row = row_at_once(
                messages,
                self.next_queue_offsets,
                offset=self.queue.end,
                stored_at_ms=stored_at_ms,
                size_max=self._size_max,
            )
        except UnusualError:
            return None
        return row if room_for(len(row.data), left=self.queue.space()) else None

    def append_row(self, row: Row) -> None:
        """Store what `row_of` has just returned: all of it, or raise FilesError."""
        self.queue.append(row.data)
        self.fresh.extend(row.told)
        self.next_queue_offsets.update(row.next_queue_offsets)
        self.last_stored_at_ms = row.told[-1].stored_at_ms

    def commit(self) -> None:
        """Write what waits in the pool, if there is one, to the files."""
        if self.pool is not None:
            self.pool.commit()

    def find(self, offset: int, *, check_crc: bool) -> Found | Unreadable:
        """Return what the record at *offset* says to queues and index."""
        data = self.queue.view_from(offset)
        if data is None:
            return Unreadable(-1)
        return find_record(data, 0, levels=self._levels, check_crc=check_crc)

    def find_all(self, offset: int) -> Iterator[Found | Unreadable]:
        """Yield what stands at *offset* and behind it, to the end of what is written.

        The caller may stop; after garbage, the next file is tried.
        """
        while offset < self.queue.end:
            data = self.queue.view_from(offset)
            base, at = offset, 0
            while data is not None and at < len(data):
                found = find_record(data, at, levels=self._levels, check_crc=False)
                yield found
                if found.size <= 0:
                    break
                at += found.size
            offset = self.next_file(base)

    def record(self, offset: int, size: int) -> memoryview | None:
        """Return the *size* bytes at *offset*; None if the log has not all of them.

        Offset 0 means the oldest byte there is (4.6.0 CommitLog#getMessage).
        """
        if offset == 0 and self.queue.start > 0:
            offset = self.queue.start
        return self.queue.view(offset, size)

    def record_at(self, offset: int) -> memoryview | None:
        """Return what has the size that stands at *offset*, None without so much."""
        head = self.record(offset, 4)
        if head is None:
            return None
        return self.record(offset, int.from_bytes(head, "big", signed=True))

    def stored_at(self, offset: int, size: int) -> int:
        """Return when the record at *offset* was stored; -1 where there is none."""
        if offset < self.queue.start:
            return -1
        data = self.record(offset, size)
        return -1 if data is None else stored_at_of(data)

    def next_file(self, offset: int) -> int:
        """Return where the file behind that of *offset* begins."""
        return offset + self.queue.file_size - offset % self.queue.file_size

    def _make_room(self, size: int) -> bool:
        """Make the last file have room for *size* bytes and a blank, if any can.

        Raises NoFileError when the next file cannot be made.
        """
        writer = self._writer
        space = writer.space()
        if room_for(size, left=space):  # [STORE-BLANK-003]
            return True
        if not room_for(size, left=self.queue.file_size):
            return False  # [STORE-ACCEPT-011]
        if space > 0:
            # The rest of a blank may be any bytes, so it stays what it is.
            # [STORE-BLANK-001] [STORE-BLANK-002]
            writer.end_file(blank_codec.pack(space, BLANK_MAGIC))
        try:
            writer.add_file()  # [STORE-LOG-004]
        except FilesError as error:
            raise NoFileError(str(error)) from error
        return True

    def _encoded_topic(self, topic: str) -> bytes:
        if len(self._topics) > 100_000:
            self._topics.clear()
        self._topics[topic] = data = encoded(topic)
        return data


def message_id(message: NewMessage, offset: int) -> str:
    """Return the offset message id of *message* at *offset*."""
    host = message.store_host
    # [STORE-ACCEPT-004]
    return f"{_id_begin(host.address, host.port)}{offset:016X}"


def message_ids(message: NewMessage, offsets: Iterable[int]) -> str:
    """Return the offset message ids of the messages of a batch at *offsets*."""
    begin = _id_begin(message.store_host.address, message.store_host.port)
    return ",".join([f"{begin}{offset:016X}" for offset in offsets])


@lru_cache(maxsize=64)
def _id_begin(address: bytes, port: int) -> str:
    """Return what all message ids of a host begin with."""
    return (address + port.to_bytes(4, "big")).hex().upper()


def encoded(text: str) -> bytes:
    """Return *text* in UTF-8; half characters become question marks, as in Java."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def stored_at_of(record: memoryview) -> int:
    """Return when *record* was stored."""
    born_size = 20 if int.from_bytes(record[36:40], "big") & BORN_V6 else 8
    return int.from_bytes(record[48 + born_size :][:8], "big", signed=True)
