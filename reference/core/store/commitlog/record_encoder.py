"""
Encoding of messages as records, several in one write.

A single message is a sequence of one. A batch is one message with several records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from reference.core.store.commitlog.batch import (
    BatchError,
    RecordContent,
    split_batch,
)
from reference.core.store.commitlog.record_codec import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
    crc32,
    dispatch_properties,
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
    new_tuple,
)
from spec.host import Host
from spec.integers import body_crc
from spec.store.blank import room_for
from spec.store.message_record import MAGIC_V1
from spec.wire.message.properties import PROPERTIES_SIZE_MAX as PROPERTIES_SIZE_MAX
from spec.wire.message.topic_names import SCHEDULE_TOPIC, TOPIC_LENGTH_MAX

_PUT_OK = PutStatus.PUT_OK  # a member of an enumeration is slow to look up
ILLEGAL = PutResult(PutStatus.MESSAGE_ILLEGAL)
_UNKNOWN_ERROR = PutResult(PutStatus.UNKNOWN_ERROR)
_V4_SIZE = len(Host.ANY_V4.address)
_HEAD_AND_BODY_PREFIX = record_head_codec.size + body_prefix.size


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
    new, pack_head, pack_size = new_tuple, record_head_codec.pack, body_prefix.pack
    for each in messages:
        message = each if check is None else check(each)
        if isinstance(message, PutStatus):
            results.append(PutResult(message))
            continue
        (
            topic,
            queue_id,
            content,
            text,
            flag,
            flags,
            born_at_ms,
            born,
            store,
            times,
            prepared_offset,
            _,
            is_batch,
        ) = message
        topic_bytes, is_dispatchable = _encoded_topic(topic)
        flags, middle = _encode_middle(
            *(flags, born_at_ms, born, stored_at_ms, store, times),
            0 if is_batch else prepared_offset,
        )
        fixed_size = len(middle) + len(topic_bytes) + _HEAD_AND_BODY_PREFIX
        contents = _split(content) if is_batch else _single(flag, content, text)
        size = fixed_size * len(contents)
        for _, body, properties, _ in contents:
            size += len(body) + len(properties)
        if size > size_max or not (contents or (is_batch and not content)):
            results.append(_UNKNOWN_ERROR if is_batch else ILLEGAL)
            continue
        if not room_for(size, left=room):
            size_without_room = size
            break
        room -= size
        queue_offset = 0  # [STORE-PUT-008]
        if flags & TRANSACTION_MASK not in NOT_CONSUMABLE:
            queue = topic, queue_id
            queue_offset = ends.get(queue) or next_queue_offsets.get(queue, 0)
            ends[queue] = queue_offset + len(contents)  # [STORE-RECORD-005]
        begin, first, ids = physical_offset, queue_offset, []
        id_begin = _id_begin(store.address, store.port)
        for flag, body, properties, text in contents:
            record_size = fixed_size + len(body) + len(properties)
            crc = body_crc(body, crc32)  # [STORE-RECORD-004]
            parts += (
                pack_head(
                    record_size,  # [STORE-RECORD-001]
                    MAGIC_V1,  # [STORE-RECORD-002]
                    crc,
                    queue_id,
                    flag,  # [WIRE-BATCH-004]
                    queue_offset,
                    physical_offset,  # [STORE-RECORD-006]
                ),
                middle,
                pack_size(len(body)),
                body,
                topic_bytes,
                properties,
            )
            if is_dispatchable:
                tags_code, keys, unique_key = dispatch_properties(text)
                request = (
                    *(record_size, topic, queue_id, queue_offset, physical_offset),
                    *(tags_code, stored_at_ms, flags, keys, unique_key),
                )
                requests.append(new(DispatchRequest, request))
            ids.append(f"{id_begin}{physical_offset:016X}")  # [STORE-PUT-004]
            physical_offset += record_size
            queue_offset += 1
        result = _PUT_OK, begin, size, first, ",".join(ids), stored_at_ms, len(ids)
        results.append(new(PutResult, result))
    encoded = b"".join(parts), results, requests, ends, size_without_room
    return new(EncodedRecords, encoded)


def _encode_middle(
    flags: int,
    born_at_ms: int,
    born: Host,
    stored_at_ms: int,
    store: Host,
    times: int,
    prepared_offset: int,
) -> tuple[int, bytes]:
    """Return the system flags, and the fields from them up to the body.

    The bits of the hosts follow the addresses, not the flags that the producer sent.
    """
    born_address, store_address = born.address, store.address
    hosts = BORN_V6 if len(born_address) > _V4_SIZE else 0
    if len(store_address) > _V4_SIZE:
        hosts |= STORE_V6
    flags = flags & ~WIDE_HOSTS | hosts
    return flags, record_middle_codecs[hosts].pack(
        flags,
        born_at_ms,
        born_address,  # [STORE-RECORD-007]
        born.port,
        stored_at_ms,
        store_address,
        store.port,
        times,
        prepared_offset,
    )


def _split(body: bytes) -> Sequence[RecordContent]:
    """Return the contents of the records of a batch; none if it is malformed."""
    try:
        return split_batch(body)
    except BatchError:
        return ()


def _single(flag: int, body: bytes, text: str) -> Sequence[RecordContent]:
    """Return the content of a single message; none if its properties are too long."""
    try:
        properties = text.encode()
    except UnicodeEncodeError:  # Java writes a question mark for half a character
        properties = text.encode("utf-8", "replace")
        text = properties.decode()
    size = len(properties)
    if size > PROPERTIES_SIZE_MAX:
        return ()
    return ((flag, body, properties_prefix.pack(size) + properties, text),)


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


@lru_cache(maxsize=64)
def _id_begin(address: bytes, port: int) -> str:
    """Return the part of an offset message id that all messages of a host share."""
    return (address + port.to_bytes(4, "big")).hex().upper()
