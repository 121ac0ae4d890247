"""
The extension of a consume queue: units of any size, for what does not fit into 20
bytes.

Beside the tags code that the queue's unit would have, it keeps when the message was
stored and which subscriptions by expression it matches. The unit has an address of the
extension's unit instead. Like the queue, it can be made again from the log.
"""

from __future__ import annotations

from reference.core.store.mapped.files import Files
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from spec.layout import LayoutError
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX
from spec.store.queue_extension import (
    END_MARK,
    END_SIZE,
    EXTENSION,
    OFFSET_MAX,
    SIZE_MAX,
    SMALLEST_SIZE,
    ExtensionUnit,
    decode_extension_unit,
    encode_extension_unit,
    extension_address,
    offset_of_address,
)

_END = END_MARK.to_bytes(2, "big", signed=True)


def is_address(tags_code: int) -> bool:
    """Return whether *tags_code* stands for a place in an extension."""
    return tags_code <= EXTENSION_ADDRESS_MAX


class QueueExtension:
    """The extension of one queue."""

    def __init__(self, files: Files, topic: str, queue_id: int, file_size: int) -> None:
        directory = f"{EXTENSION}/{topic}/{queue_id}"  # [STORE-EXTENSION-007]
        self.queue = MappedFileQueue(files, directory, file_size)

    def put(self, unit: ExtensionUnit) -> int:
        """Add *unit*; return its address, or its own tags code if there is no room.

        4.6.0 ConsumeQueueExt#put.
        """
        size, queue = SMALLEST_SIZE + len(unit.filter_bits), self.queue
        fits = size <= min(queue.file_size - END_SIZE, SIZE_MAX)
        if not fits or queue.end + size > OFFSET_MAX:
            return unit.tags_code
        if 0 < queue.limit - queue.end < size + END_SIZE:
            queue.end_file(_END)  # [STORE-EXTENSION-006]
        if queue.end == queue.limit:
            queue.add_file()
        # [STORE-EXTENSION-001] [STORE-EXTENSION-002]
        offset = queue.append(encode_extension_unit(unit))
        return extension_address(offset)  # [STORE-EXTENSION-003]

    def get(self, address: int) -> ExtensionUnit | None:
        """Return the unit at *address*, None if there is none."""
        data = self.queue.view(offset_of_address(address))
        try:
            return None if data is None else decode_extension_unit(data)
        except LayoutError:
            return None

    def recover(self, last_address: int | None) -> None:
        """Find the end: behind the unit that the queue knows last, if it knows one.

        4.6.0 ConsumeQueueExt#recover and #truncateByMaxAddress.
        """
        if not len(self.queue):
            return
        self.queue.truncate(self._written_end())
        unit = None if last_address is None else self.get(last_address)
        if last_address is not None and unit is not None:
            size = SMALLEST_SIZE + len(unit.filter_bits)
            # [STORE-EXTENSION-012]
            self.queue.truncate(offset_of_address(last_address) + size)

    def delete_before(self, first_address: int) -> None:
        """Delete the files that end before the first unit that the queue knows."""
        first = offset_of_address(first_address)
        while len(self.queue) and self.queue.start + self.queue.file_size < first:
            self.queue.delete_first()  # [STORE-EXTENSION-013]

    def _written_end(self) -> int:
        """Return where the units of the last file end."""
        base = self.queue.start_offsets[-1]
        data = self.queue.view(base) or memoryview(b"")
        at = 0
        while at + 2 <= len(data):
            size = int.from_bytes(data[at : at + 2], "big", signed=True)
            if size <= 0 or at + size > len(data):
                break
            at += size
        return base + at
