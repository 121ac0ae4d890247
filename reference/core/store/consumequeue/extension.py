"""
The extension of a consume queue: units of variable size (Java: ConsumeQueueExt).

An extension unit has the tags code, the store time and the bit map of the subscriptions
by expression that match. The consume-queue unit has its address instead of a tags code.
Dispatch can build the extension again from the log.
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
    """Return whether *tags_code* is the address of an extension unit."""
    return tags_code <= EXTENSION_ADDRESS_MAX


class QueueExtension:
    """The extension of one queue."""

    def __init__(self, files: Files, topic: str, queue_id: int, file_size: int) -> None:
        directory = f"{EXTENSION}/{topic}/{queue_id}"  # [STORE-EXTENSION-007]
        self.files = MappedFileQueue(files, directory, file_size)

    def put(self, unit: ExtensionUnit) -> int:
        """Add *unit*; return its address, or its tags code if it does not fit.

        4.6.0 ConsumeQueueExt#put.
        """
        size, queue = SMALLEST_SIZE + len(unit.filter_bits), self.files
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
        """Return the unit at *address*, or None."""
        data = self.files.view(offset_of_address(address))
        try:
            return None if data is None else decode_extension_unit(data)
        except LayoutError:
            return None

    def recover(self, last_address: int | None) -> None:
        """Truncate behind the unit at *last_address*, or behind the last valid unit.

        4.6.0 ConsumeQueueExt#recover and #truncateByMaxAddress.
        """
        if not len(self.files):
            return
        self.files.truncate(self._written_end())
        unit = None if last_address is None else self.get(last_address)
        if last_address is not None and unit is not None:
            size = SMALLEST_SIZE + len(unit.filter_bits)
            # [STORE-EXTENSION-012]
            self.files.truncate(offset_of_address(last_address) + size)

    def delete_before(self, first_address: int) -> None:
        """Delete the files that end before the unit at *first_address*."""
        first = offset_of_address(first_address)
        while len(self.files) and self.files.start + self.files.file_size < first:
            self.files.delete_first()  # [STORE-EXTENSION-013]

    def _written_end(self) -> int:
        start = self.files.start_offsets[-1]
        data = self.files.view(start) or memoryview(b"")
        at = 0
        while at + 2 <= len(data):
            size = int.from_bytes(data[at : at + 2], "big", signed=True)
            if size <= 0 or at + size > len(data):
                break
            at += size
        return start + at
