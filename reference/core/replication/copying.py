"""
A copy of a commit log grows by pieces of the original, each at its own offset.

A piece that does not fit is refused before a byte of it is written, so the copy is at
any time the beginning of the original, or a stretch of it.
"""

from __future__ import annotations

from reference.core.store.file_queue import FileQueue
from spec.wire.replication import HEADER_SIZE
from spec.wire.replication_rules import SLAVE_BUFFER_SIZE

SIZE_MAX = SLAVE_BUFFER_SIZE - HEADER_SIZE


def refusal(log: FileQueue, offset: int, size: int) -> str | None:
    """Return why a piece cannot be appended to *log*; None if it can."""
    if not 0 <= size <= SIZE_MAX:
        return f"announces {size} bytes"
    if offset < 0:
        return f"begins at {offset}"
    # A log without a byte begins wherever its master does. [HA-TRANSFER-013]
    if log.end not in {0, offset}:  # [HA-TRANSFER-009]
        return f"begins at {offset}, where our log goes up to {log.end}"
    place = offset % log.file_size
    if size and log.end == 0 and place:
        return f"begins at {offset}, which is no beginning of a file of ours"
    if place + size > log.file_size:
        return f"has files of another size than {log.file_size}, which is ours"
    return None


def append_copy(log: FileQueue, offset: int, data: bytes | bytearray) -> None:
    """Write what `refusal` has nothing against; FilesError where the disk has."""
    while log.end == 0 < offset and len(log):
        log.delete_last()  # it was made for a log that the master has no more
    if log.space() == 0:
        log.add_file(offset)
    log.append(data)  # [HA-SLAVE-002]
