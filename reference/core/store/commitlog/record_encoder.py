"""
Encoding of messages as records, several in one write.

A single message is a sequence of one. A batch is one message with several records.

For example, three messages of one producer go to queue A-0, which has seven. Each of
their records has 200 bytes, and from commit-log offset 1000 on the file has room for
two. The first record is at 1000 and is message 7, the second at 1200 and is message 8.
The third is not encoded: `size_without_room` is 200. The next queue offset of A-0 is 9.

A record is head, middle, body, topic and properties. A fast path makes middle and topic
once for messages with an equal `_source`, as `_Shared`; the bytes are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from reference.core.store.commitlog.batch import BatchError, RecordContent, split_batch
from reference.core.store.commitlog.dispatch_request import dispatch_properties
from reference.core.store.commitlog.record_reader import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
    crc32,
)
from reference.core.store.layouts import (
    BORN_V6,
    STORE_V6,
    WIDE_HOSTS,
    body_prefix,
    properties_prefix,
    record_head_codec,
    record_middle_codecs,
    topic_prefix,
)
from reference.core.store.types import (
    DispatchRequest,
    NewMessage,
    PutResult,
    PutStatus,
    Queue,
)
from spec.host import Host
from spec.integers import INT32_MAX
from spec.store.blank import BLANK_SIZE_MIN
from spec.store.message_record import MAGIC_V1
from spec.wire.message.properties import PROPERTIES_SIZE_MAX as PROPERTIES_SIZE_MAX
from spec.wire.message.topic_names import SCHEDULE_TOPIC, TOPIC_LENGTH_MAX

_PUT_OK = PutStatus.PUT_OK  # a member of an enumeration is slow to look up
ILLEGAL = PutResult(PutStatus.MESSAGE_ILLEGAL)
_UNKNOWN_ERROR = PutResult(PutStatus.UNKNOWN_ERROR)
_V4_SIZE = len(Host.ANY_V4.address)
_HEAD_AND_BODY_PREFIX = record_head_codec.size + body_prefix.size
_MALFORMED: tuple[Sequence[RecordContent], int] = (), -1
_source = attrgetter(
    "topic",
    "system_flags",
    "born_at_ms",
    "born_host",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
    "is_batch",
)
"""Returns the values of a message that decide what its records share."""


CheckMessage = Callable[[NewMessage], NewMessage | PutStatus]
"""Returns the message to append, or the status of a refused one."""


class EncodedRecords(NamedTuple):
    """The records of some messages, encoded for one write."""

    data: bytes
    results: list[PutResult]
    """One for each message, refused messages included."""
    requests: list[DispatchRequest]
    """One for each record that dispatch need not read from the log."""
    next_queue_offsets: dict[Queue, int]
    size_without_room: int
    """Bytes of the next message, which the file has no room for; -1 without one."""


class _Shared(NamedTuple):
    """Fields and bytes that the records of a message and of those like it share."""

    flags: int
    """System flags."""
    middle: bytes
    """The fields from the system flags up to the body."""
    topic_bytes: bytes
    """The topic with its size."""
    is_dispatchable: bool
    """Whether dispatch need not read the record from the log."""
    fixed_size: int
    """Bytes of a record without its body and its properties."""
    has_queue_offset: bool
    """Whether the records have places in a consume queue."""


def encode_records(
    messages: Sequence[NewMessage],
    next_queue_offsets: Mapping[Queue, int],
    check: CheckMessage | None,
    *,
    physical_offset: int,
    room: int,
    stored_at_ms: int,
    size_max: int,
) -> EncodedRecords:
    """Encode the leading *messages* that fit into *room* bytes of one file.

    *physical_offset* is the commit-log offset of the first record. *size_max*
    (maxMessageSize) limits the record of a message, or all records of a batch.
    """
    parts: list[bytes | memoryview] = []
    results: list[PutResult] = []
    requests: list[DispatchRequest] = []
    ends: dict[Queue, int] = {}
    size_without_room = -1
    room -= BLANK_SIZE_MIN
    shared: _Shared | None = None
    source: object = None
    for each in messages:
        message = each if check is None else check(each)
        if isinstance(message, PutStatus):
            results.append(PutResult(message))
            continue
        contents, size = _contents(message)
        own_source = _source(message)
        if shared is None or own_source != source:  # seldom, behind one producer
            shared, source = _shared(message, stored_at_ms), own_source
        size += len(contents) * shared.fixed_size
        if size < 0 or size > size_max:
            results.append(_UNKNOWN_ERROR if message.is_batch else ILLEGAL)
            continue
        if size > room:
            size_without_room = size
            break
        room -= size
        queue_offset = 0  # [STORE-PUT-008]
        if shared.has_queue_offset:
            queue = message.topic, message.queue_id
            queue_offset = ends.get(queue) or next_queue_offsets.get(queue, 0)
            ends[queue] = queue_offset + len(contents)  # [STORE-RECORD-005]
        offsets = _add_records(
            parts,
            requests,
            message,
            shared,
            contents,
            queue_offset,
            physical_offset,
            stored_at_ms,
        )
        results.append(
            PutResult(
                _PUT_OK, physical_offset, size, queue_offset, offsets, message.topic
            )
        )
        physical_offset += size
    data = b"".join(parts)
    return EncodedRecords(data, results, requests, ends, size_without_room)


def _add_records(
    parts: list[bytes | memoryview],
    requests: list[DispatchRequest],
    message: NewMessage,
    shared: _Shared,
    contents: Sequence[RecordContent],
    queue_offset: int,
    physical_offset: int,
    stored_at_ms: int,
) -> list[int]:
    """Add the records of *message* to *parts*; return their commit-log offsets.

    *requests* receives the dispatch request of each record.
    """
    topic, queue_id = message.topic, message.queue_id
    flags, middle, topic_bytes, is_dispatchable, fixed_size, _ = shared
    offsets = []
    for flag, body, properties, text in contents:
        size = fixed_size + len(body) + len(properties)
        head = record_head_codec.pack(
            size,  # [STORE-RECORD-001]
            MAGIC_V1,  # [STORE-RECORD-002]
            crc32(body) & INT32_MAX,  # [STORE-RECORD-004]
            queue_id,
            flag,  # [WIRE-BATCH-004]
            queue_offset,
            physical_offset,  # [STORE-RECORD-006]
        )
        body_size = body_prefix.pack(len(body))
        parts += head, middle, body_size, body, topic_bytes, properties
        if is_dispatchable:
            tags_code, index_keys = dispatch_properties(text)
            request = DispatchRequest(
                size,
                topic,
                queue_id,
                queue_offset,
                physical_offset,
                tags_code,
                stored_at_ms,
                flags,
                index_keys,
            )
            requests.append(request)
        offsets.append(physical_offset)
        physical_offset += size
        queue_offset += 1
    return offsets


def _shared(message: NewMessage, stored_at_ms: int) -> _Shared:
    """Return the parts of the records of *message* that messages like it share.

    The bits of the hosts follow the addresses, not the flags that the producer sent.
    """
    born, store = message.born_host, message.store_host
    hosts = BORN_V6 if len(born.address) > _V4_SIZE else 0
    if len(store.address) > _V4_SIZE:
        hosts |= STORE_V6
    flags = message.system_flags & ~WIDE_HOSTS | hosts
    middle = record_middle_codecs[hosts].pack(
        flags,
        message.born_at_ms,
        born.address,  # [STORE-RECORD-007]
        born.port,
        stored_at_ms,
        store.address,
        store.port,
        message.reconsume_times,
        0 if message.is_batch else message.prepared_transaction_offset,
    )
    topic_bytes, is_dispatchable = _encoded_topic(message.topic)
    return _Shared(
        flags,
        middle,
        topic_bytes,
        is_dispatchable,
        len(middle) + len(topic_bytes) + _HEAD_AND_BODY_PREFIX,
        flags & TRANSACTION_MASK not in NOT_CONSUMABLE,
    )


def _contents(message: NewMessage) -> tuple[Sequence[RecordContent], int]:
    """Return the content of each record of *message*, and the size of their bytes.

    The size is that of the bodies and the properties; -1 of a malformed message.
    """
    if message.is_batch:
        try:
            contents = split_batch(message.body)
        except BatchError:
            return _MALFORMED
        return contents, sum(len(body) + len(rest) for _, body, rest, _ in contents)
    text = message.properties
    try:
        properties = text.encode()
    except UnicodeEncodeError:  # Java writes a question mark for half a character
        properties = text.encode("utf-8", "replace")
        text = properties.decode()
    size = len(properties)
    if size > PROPERTIES_SIZE_MAX:
        return _MALFORMED
    prefixed, body = properties_prefix.pack(size) + properties, message.body
    return ((message.flag, body, prefixed, text),), len(body) + len(prefixed)


@lru_cache(maxsize=16_384)
def _encoded_topic(topic: str) -> tuple[bytes, bool]:
    """Return the topic's bytes with their size, and whether dispatch needs no reading.

    The log's reader computes the delivery time of a delayed message, and the topic
    that a record has for one that is not ASCII.
    """
    encoded = topic.encode("utf-8", "replace")
    is_short = topic.isascii() and len(topic) <= TOPIC_LENGTH_MAX
    prefixed = topic_prefix.pack(len(encoded)) + encoded
    return prefixed, is_short and topic != SCHEDULE_TOPIC
