"""
Transfers: pieces of a master's commit log, each appended at its own offset.

A transfer that does not fit is refused before a byte of it is written. The slave's log
is therefore always a part of the master's.
"""

from __future__ import annotations

from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from spec.derive.struct_codec import compile_codec
from spec.wire.ha.replication import HEADER_SIZE, piece_layout, slave_offset_layout
from spec.wire.ha.replication_rules import SLAVE_BUFFER_SIZE

SIZE_MAX = SLAVE_BUFFER_SIZE - HEADER_SIZE
transfer_codec = compile_codec(piece_layout)
slave_offset_codec = compile_codec(slave_offset_layout)


def transfer_error(log: MappedFileQueue, offset: int, size: int) -> str | None:
    """Return the reason why a transfer cannot be appended to *log*, or None."""
    if not 0 <= size <= SIZE_MAX:
        return f"announces {size} bytes"
    if offset < 0:
        return f"begins at {offset}"
    # An empty log begins at the offset of its master's. [HA-TRANSFER-013]
    if log.end not in {0, offset}:  # [HA-TRANSFER-009]
        return f"begins at {offset}, where our log goes up to {log.end}"
    place = offset % log.file_size
    if size and log.end == 0 and place:
        return f"begins at {offset}, which is no beginning of a file of ours"
    if place + size > log.file_size:
        return f"has files of another size than {log.file_size}, which is ours"
    return None


def append_transferred(
    log: MappedFileQueue, offset: int, data: bytes | bytearray
) -> None:
    """Append a transfer without `transfer_error`; raise FilesError of the disk."""
    while log.end == 0 < offset and len(log):
        log.delete_last()  # made for an offset that the master no longer has
    if log.end == log.limit:
        log.add_file(offset)
    log.append(data)  # [HA-SLAVE-002]
