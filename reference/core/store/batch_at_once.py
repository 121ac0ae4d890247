"""
The records of a batch, made in one go.

They differ in few fields. What they share is written once, and what a client has sent
is not taken apart where a record has it as it came: a body with its size, properties
with theirs. `batch.one_by_one` is the plain way; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.api import NewMessage, new_tuple
from reference.core.store.batch import SIZE_SIZE, Span, Written
from reference.core.store.layouts import (
    body_prefix,
    properties_prefix,
    record_head_codec,
    topic_prefix,
)
from reference.core.store.records import (
    Columns,
    Found,
    crc32,
    encode_new,
    is_plain_topic,
    said_by,
)
from spec.integers import body_crc
from spec.store.message_record import MAGIC_V1

_BODY_SIZE = body_prefix.size


def at_once(
    message: NewMessage, spans: Sequence[Span], first: Columns, flags: int
) -> Written | None:
    """Return the records of the batch *message*, of which *first* has no properties.

    None where dispatch would have to read them.
    """
    if not is_plain_topic(message.topic):
        return None
    shared, topic = _shared(message, first, flags)
    fixed = record_head_codec.size + len(shared) + _BODY_SIZE + len(topic)
    pack, new, view = record_head_codec.pack, new_tuple, memoryview(message.body)
    name, queue_id, stored_at_ms = message.topic, message.queue_id, first.stored_at_ms
    queue_offset, offset = first.queue_offset, first.physical_offset
    parts: list[bytes | memoryview] = []
    offsets, told = [], []
    for flag, begin, end, stop in spans:
        size = fixed + stop - begin
        crc = body_crc(view[begin:end], crc32)
        parts += (
            # [WIRE-BATCH-004]
            pack(size, MAGIC_V1, crc, queue_id, flag, queue_offset, offset),
            shared,
            view[begin - _BODY_SIZE : end],
            topic,
            view[end:stop],
        )
        tags_code, keys, unique_key = said_by(
            str(view[end + SIZE_SIZE : stop], "utf-8", "replace")
        )
        said = (
            *(size, name, queue_id, queue_offset, offset),
            *(tags_code, stored_at_ms, flags, keys, unique_key),
        )
        told.append(new(Found, said))
        offsets.append(offset)
        offset += size
        queue_offset += 1
    return Written(b"".join(parts), offsets, told)


def _shared(message: NewMessage, first: Columns, flags: int) -> tuple[bytes, bytes]:
    """Return what all records have between head and body, and behind the body."""
    nothing = message._replace(body=b"", prepared_transaction_offset=0)
    record = encode_new(nothing, first, flags)
    topic_end = len(record) - properties_prefix.size
    topic_begin = topic_end - topic_prefix.size - len(first.topic)
    between = record[record_head_codec.size : topic_begin - _BODY_SIZE]
    return between, record[topic_begin:topic_end]
