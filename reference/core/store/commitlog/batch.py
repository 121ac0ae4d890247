"""
The body of a batch: several messages of one topic and queue in one request.

Each message begins with a size, a magic and a checksum that brokers do not read. The
flag, the body and the properties follow (4.6.0 MessageDecoder#encodeMessage).
"""

from __future__ import annotations

from struct import error

from reference.core.store.layouts import batch_head_codec, properties_prefix


class BatchError(ValueError):
    """The body is not a sequence of messages."""


RecordContent = tuple[int, bytes | memoryview, bytes | memoryview, str]
"""The fields in which the records of a batch differ: flag, body, properties, and their
text. The properties have their size in front, as in a record."""


def split_batch(body: bytes) -> list[RecordContent]:
    """Return the messages in the *body* of a batch, without copying their bytes.

    Raises BatchError where a size does not fit.
    """
    contents: list[RecordContent] = []
    position, length, view = 0, len(body), memoryview(body)
    unpack, head_size = batch_head_codec.unpack_from, batch_head_codec.size
    prefix_size = properties_prefix.size
    while position < length:
        try:
            # [WIRE-BATCH-001] [WIRE-BATCH-003]
            *_, flag, size = unpack(body, position)
        except error:
            raise BatchError(f"a message ends at byte {length} of its head") from None
        begin = position + head_size
        end = begin + size
        prefix = body[end : end + prefix_size]
        properties_size = int.from_bytes(prefix, "big", signed=True)
        text_begin = end + prefix_size
        position = text_begin + properties_size
        # [SEND-BATCH-011]
        if size < 0 or properties_size < 0 or position > length:
            raise BatchError(f"{size} and {properties_size} bytes do not fit the batch")
        text = str(view[text_begin:position], "utf-8", "replace")
        contents.append((flag, view[begin:end], view[end:position], text))
    return contents
