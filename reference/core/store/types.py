"""
Parameters and results of the message store.

`append` takes `NewMessage` and returns `PutResult`; `get` returns `GetMessageResult`.
The broker chooses the response code by the status, which has its name in Java. The
store has no clock: its callers pass the time.

The broker creates one of each for every message. Attributes of a class with slots are
read in a tenth of the time that those of a named tuple take.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, field

from reference.core.store.recovery.rules import REFERENCE, RecoveryRules
from spec.host import Host
from spec.store.message_record import Record
from spec.store.timer import timer_log
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS

Queue = tuple[str, int]
"""A topic and the number of a queue."""


class PutStatus(Enum):
    """The status of a put (Java: PutMessageStatus)."""

    PUT_OK = "stored"
    FLUSH_DISK_TIMEOUT = "stored, but not known to be on disk"
    FLUSH_SLAVE_TIMEOUT = "stored, but not known to be on the slave"
    SLAVE_NOT_AVAILABLE = "stored, but the slave is too far behind"
    SERVICE_NOT_AVAILABLE = "the store is stopped or not writable"
    CREATE_FILE_FAILED = "no new commit-log file (Java: CREATE_MAPEDFILE_FAILED)"
    MESSAGE_ILLEGAL = "the message breaks a limit"
    PROPERTIES_SIZE_EXCEEDED = "the properties are too long"
    UNKNOWN_ERROR = "the message cannot be read"


class GetMessageStatus(Enum):
    """The status of a get (Java: GetMessageStatus)."""

    FOUND = "messages found"
    NO_MATCHED_MESSAGE = "messages, but none that the filter accepts"
    MESSAGE_WAS_REMOVING = "the commit log no longer has the messages"
    OFFSET_FOUND_NULL = "the queue has no file for the offset"
    OFFSET_OVERFLOW_BADLY = "the offset lies behind the end of the queue"
    OFFSET_OVERFLOW_ONE = "the offset is the end of the queue: nothing new"
    OFFSET_TOO_SMALL = "the offset lies before the queue's first message"
    NO_MESSAGE_IN_QUEUE = "the queue never had a message"


class FlushMode(StrEnum):
    """The time of a flush (Java: FlushDiskType)."""

    ASYNC_FLUSH = "ASYNC_FLUSH"
    """After the response to the producer."""
    SYNC_FLUSH = "SYNC_FLUSH"
    """Before the response to the producer."""


class NewMessage(Struct):
    """A message to append."""

    topic: str
    queue_id: int
    body: bytes
    """The payload; of a batch, its encoded messages (MessageDecoder#encodeMessages)."""
    properties: str = ""
    """As on the wire. DELAY in it sends the message through the schedule topic."""
    flag: int = 0
    system_flags: int = 0
    """The store sets the two IPv6 bits itself."""
    born_at_ms: int = 0
    born_host: Host = Host.ANY_V4
    store_host: Host = Host.ANY_V4
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    is_batch: bool = False
    """Whether the body is a batch, stored whole or not (Java: MessageExtBatch)."""


def message_of_record(record: Record, topic: str, queue_id: int) -> NewMessage:
    """Return the message that appends *record* again, to another topic and queue."""
    return NewMessage(
        topic=topic,
        queue_id=queue_id,
        body=record.body,
        properties=record.properties,
        flag=record.flag,
        system_flags=record.system_flags,
        born_at_ms=record.born_at_ms,
        born_host=record.born_host,
        store_host=record.store_host,
        reconsume_times=record.reconsume_times,
    )


class PutResult(Struct):
    """The result of a put. A refused message has only a status."""

    status: PutStatus
    physical_offset: int = -1
    """Commit-log offset of the (first) record."""
    size: int = 0
    """Bytes appended, blank excluded."""
    queue_offset: int = -1
    """Index of the (first) message in its queue."""
    record_offsets: Sequence[int] = ()
    """Commit-log offset of each record: one, or those of the batch."""
    topic: str = ""
    """Topic of the record: that of a delayed message is the schedule topic."""

    @property
    def is_stored(self) -> bool:
        """Whether the commit log has the message."""
        return self.physical_offset >= 0


class GetMessageResult(NamedTuple):
    """The result of a get."""

    status: GetMessageStatus
    next_begin_offset: int
    """Queue offset of the next get."""
    min_offset: int
    max_offset: int
    records: tuple[memoryview, ...] = ()
    """Whole records, views into the mapped log. Send them without copying."""
    size: int = 0
    """Bytes of all records."""
    suggest_slave: bool = False
    """The consumer is so far behind that a slave should serve it."""


class DispatchRequest(Struct):
    """The fields of one record that consume queue and index need.

    Java: DispatchRequest. Dispatch returns the visible ones, and long polling wakes the
    pull requests that wait for them (Java: MessageArrivingListener).
    """

    size: int
    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    """As the record has it; 4.6.0 does not compare it with the record's place."""
    tags_code: int
    """Hash of the tags, or the delivery time of a delayed message."""
    stored_at_ms: int
    system_flags: int
    index_keys: Sequence[str]
    """The unique key, then the keys; one that occurs twice is there twice."""


class QueryResult(NamedTuple):
    """The result of a query by key."""

    records: tuple[memoryview, ...]
    """In the order of the commit log."""
    index_last_update_ms: int
    index_last_update_offset: int


def set_by(name: str, default: object) -> Any:
    """Return a field of `StoreOptions` that the setting *name* of broker.conf sets."""
    return field(default=default, name=name)


PHYSICAL_MEMORY_SIZE = 16 * 1024**3
"""Bytes of memory; 4.6.0 takes those of the machine."""


class StoreOptions(Struct, frozen=True, kw_only=True):
    """The settings of a store."""

    commit_log_file_size: int = set_by("mappedFileSizeCommitLog", 1024**3)
    consume_queue_file_size: int = set_by("mappedFileSizeConsumeQueue", 300_000 * 20)
    """4.6.0 rounds it up to whole units."""
    extension_file_size: int = set_by("mappedFileSizeConsumeQueueExt", 0)
    """0 without enableConsumeQueueExt."""
    timer_log_file_size: int = timer_log.FILE_SIZE_DEFAULT
    """mappedFileSizeTimerLog of 5.x."""
    timer_enabled: bool = True
    """timerWheelEnable of 5.x: whether a start reads the timer's files."""
    index_slot_count: int = set_by("maxHashSlotNum", 5_000_000)
    index_item_count: int = set_by("maxIndexNum", 20_000_000)
    index_enabled: bool = set_by("messageIndexEnable", True)
    index_safe: bool = set_by("messageIndexSafe", False)
    """Whether an abnormal start also goes by the index's checkpoint."""
    max_message_size: int = set_by("maxMessageSize", 4 * 1024**2)
    preallocates_files: bool = True
    """Whether the next commit-log file is made before it is needed, as brokers do."""
    flush_mode: FlushMode = set_by("flushDiskType", FlushMode.ASYNC_FLUSH)
    pool_buffer_count: int = set_by("transientStorePoolSize", 0)
    """0 unless transientStorePoolEnable has an effect."""
    check_crc_on_recover: bool = set_by("checkCRCOnRecover", True)
    max_transfer_size_in_memory: int = 256 * 1024
    max_transfer_count_in_memory: int = 32
    max_transfer_size_on_disk: int = 64 * 1024
    max_transfer_count_on_disk: int = 8
    memory_size: int = PHYSICAL_MEMORY_SIZE * 40 // 100
    """Physical memory x accessMessageInMemoryMaxRatio: older bytes are on disk."""
    query_count_max: int = 64
    zone_offset_ms: int = 0
    """Local time minus UTC, for the names of index files."""
    delay_levels: str = set_by("messageDelayLevel", DEFAULT_DELAY_LEVELS)
    is_slave: bool = False
    """brokerRole is SLAVE: the log comes from a master, piece by piece."""
    rules: RecoveryRules = REFERENCE
    """Rules by which records of the log are read."""
