"""
The records of a row of messages from one peer, made in one go.

Neighbours have much in common: a topic, hosts, the millisecond in which they were born.
That is made bytes once, and the row is one write to the log's file. The plain way is
`CommitLog.append`, one message after the other, which takes whatever is not so usual;
the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from reference.core.store.api import NewMessage, Queue, new_tuple
from reference.core.store.layouts import (
    properties_prefix,
    record_head_codec,
    topic_prefix,
)
from reference.core.store.records import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
    Columns,
    Found,
    crc32,
    encode_new,
    flags_with_hosts,
    is_plain_topic,
    said_by,
)
from spec.integers import body_crc
from spec.store.message_record import MAGIC_V1
from spec.wire.properties import SIZE_MAX as PROPERTIES_SIZE_MAX

TOPICS_KEPT = 16_384
"""Topics whose bytes are kept; peers choose them."""


class Row(NamedTuple):
    """The records of some messages, one behind the other."""

    data: bytes
    told: list[Found]
    """What dispatch need not read of them."""
    next_queue_offsets: dict[Queue, int]


class _Kind(NamedTuple):
    """What records have in common whose messages are alike, but for their topics."""

    between: bytes
    """From the flags to the size of the body."""
    fixed: int
    """Bytes of a record apart from body, topic and properties."""
    flags: int


class UnusualError(Exception):
    """A message is none for this way."""


def row_at_once(
    messages: Sequence[NewMessage],
    next_queue_offsets: Mapping[Queue, int],
    *,
    offset: int,
    stored_at_ms: int,
    size_max: int,
) -> Row:
    """Return the records of *messages*, the first of which will be at *offset*.

    Raises UnusualError where one of them has to be looked at by itself.
    """
    _check_origin(messages)
    pack, new, pack_size = record_head_codec.pack, new_tuple, properties_prefix.pack
    kinds: dict[tuple[object, ...], _Kind] = {}
    ends: dict[Queue, int] = {}
    parts: list[bytes] = []
    told = []
    for message in messages:
        topic, queue_id, body, words, flag, own_flags, born_at_ms, _, _, times, *_ = (
            message
        )
        alike = own_flags, born_at_ms, times, len(body)
        kind = kinds.get(alike)
        if kind is None:
            kind = kinds[alike] = _kind(message, stored_at_ms)
        between, fixed, flags = kind
        topic_bytes = _topic(topic)
        queue = topic, queue_id
        queue_offset = ends.get(queue)
        if queue_offset is None:
            queue_offset = next_queue_offsets.get(queue, 0)
        ends[queue] = queue_offset + 1
        properties = _encoded(words)
        size = fixed + len(body) + len(topic_bytes) + len(properties)
        if size > size_max:
            raise UnusualError
        crc = body_crc(body, crc32)
        head = pack(size, MAGIC_V1, crc, queue_id, flag, queue_offset, offset)
        parts += (
            head,
            between,
            body,
            topic_bytes,
            pack_size(len(properties)),
            properties,
        )
        tags_code, keys, unique_key = said_by(words)
        said = (
            *(size, topic, queue_id, queue_offset, offset),
            *(tags_code, stored_at_ms, flags, keys, unique_key),
        )
        told.append(new(Found, said))
        offset += size
    return Row(b"".join(parts), told, ends)


def _check_origin(messages: Sequence[NewMessage]) -> None:
    """Raise UnusualError unless all have the same hosts, and are of no transaction."""
    born_host, store_host = messages[0].born_host, messages[0].store_host
    for _, _, _, _, _, _, _, born_by, stored_by, _, prepared, _ in messages:
        if born_by is not born_host or stored_by is not store_host or prepared:
            raise UnusualError


def _encoded(words: str) -> bytes:
    """Return the bytes of properties that are not special."""
    try:
        properties = words.encode()
    except UnicodeEncodeError:
        raise UnusualError from None
    if "DELAY" in words or len(properties) > PROPERTIES_SIZE_MAX:
        raise UnusualError
    return properties


@lru_cache(maxsize=TOPICS_KEPT)
def _topic(topic: str) -> bytes:
    """Return the bytes of *topic* in a record, its size before them."""
    if not is_plain_topic(topic):
        raise UnusualError
    encoded = topic.encode()
    return topic_prefix.pack(len(encoded)) + encoded


def _kind(message: NewMessage, stored_at_ms: int) -> _Kind:
    """Return what all messages have that are like *message*, and of the same hosts."""
    if message.system_flags & TRANSACTION_MASK in NOT_CONSUMABLE:
        raise UnusualError
    flags = flags_with_hosts(message)
    record = encode_new(message, Columns(b"", b"", 0, 0, stored_at_ms, 0), flags)
    fixed = len(record) - len(message.body) - topic_prefix.size
    body_begin = fixed - properties_prefix.size
    return _Kind(record[record_head_codec.size : body_begin], fixed, flags)
