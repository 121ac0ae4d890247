"""
The offsets of a broadcasting member as its file has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.client.message import Queue
from spec.client.local_offsets import LocalOffsets
from spec.layout import LayoutError
from spec.wire.json_body import decode_body, encode_body


def encode_offsets(offsets: Mapping[Queue, int]) -> bytes:
    """Return the content of the file that says *offsets*."""
    table = {queue.name: offset for queue, offset in offsets.items()}
    return encode_body(LocalOffsets(offsets=table))


def decode_offsets(*contents: bytes) -> Mapping[Queue, int]:
    """Return what the first of *contents* says that can be read, if one can."""
    for content in contents:  # [CLIENT-LOCAL-002]
        try:
            table = decode_body(LocalOffsets, content).offsets
        except LayoutError:
            continue
        return {Queue.named(name): offset for name, offset in table.items()}
    return {}
