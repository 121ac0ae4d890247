"""Structures of a store about one message: its record, units and extension unit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spark_checks.generate.plan import Plan
from spark_checks.generate.rounds import BATCH_COUNT, Kind
from spec.integers import tags_code
from spec.store import batch_queue, queue_extension
from spec.store.batch_queue import BATCH_QUEUE, BatchUnit, encode_batch_unit
from spec.store.consume_queue import UNIT_SIZE, unit_codec
from spec.store.file_names import file_name
from spec.store.message_record import Record, encode_record
from spec.store.queue_extension import (
    END_SIZE,
    EXTENSION,
    SMALLEST_SIZE,
    ExtensionUnit,
    encode_extension_unit,
    extension_address,
)
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS, decode_delay_levels
from spec.wire.message.multi_dispatch import dispatches_of
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

EXTENSION_UNITS = 40
"""Units of an extension file; all have one size, without bit maps."""
EXTENSION_FILE_SIZE = EXTENSION_UNITS * SMALLEST_SIZE + END_SIZE
_END = queue_extension.END_MARK.to_bytes(2, "big", signed=True).ljust(END_SIZE, b"\0")
_LEVELS = decode_delay_levels(DEFAULT_DELAY_LEVELS)


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes within the equally large files of a directory."""

    directory: str
    offset: int
    """Begin of the bytes, counted over all files."""
    data: bytes
    file_size: int

    @property
    def place(self) -> tuple[str, int]:
        """The file of the first byte, and its position there."""
        position = self.offset % self.file_size
        return f"{self.directory}/{file_name(self.offset - position)}", position


def _tags_code_of(record: Record) -> int:
    """Return the tags code in the unit of *record*."""
    properties = decode_properties(record.properties)
    if record.topic == SCHEDULE_TOPIC:
        return _LEVELS.due_at_ms(
            int(properties["DELAY"]), stored_at_ms=record.stored_at_ms
        )
    return tags_code(properties.get("TAGS", ""))


def entries_of(plan: Plan, kind: Kind, record: Record) -> Iterator[tuple[str, Entry]]:
    """Yield the structures about a message, each with its name."""
    data, code = encode_record(record), _tags_code_of(record)
    begin, at = record.physical_offset, record.queue_offset
    queue = f"{record.topic}/{record.queue_id}"
    yield "message_record", Entry("commitlog", begin, data, plan.log_size)
    if kind is Kind.BATCH:
        batch = BatchUnit(
            commit_log_offset=begin,
            size=len(data),
            tags_code=code,
            stored_at_ms=record.stored_at_ms,
            first_queue_offset=at,
            message_count=BATCH_COUNT,
        )
        size = batch_queue.UNIT_SIZE
        place = f"{BATCH_QUEUE}/{queue}", at // BATCH_COUNT * size
        unit = encode_batch_unit(batch)
        yield "batch_consume_queue_unit", Entry(*place, unit, plan.queue_units * size)
        return
    own_code = code
    if plan.is_rich:
        directory, size = f"{EXTENSION}/{queue}", EXTENSION_FILE_SIZE
        file, number = divmod(at, EXTENSION_UNITS)
        offset = file * size + number * SMALLEST_SIZE
        own_code = extension_address(offset)
        if at and not number:  # the first unit of a file ends the file before
            yield "extension_end", Entry(directory, offset - END_SIZE, _END, size)
        unit = encode_extension_unit(
            ExtensionUnit(tags_code=code, stored_at_ms=record.stored_at_ms)
        )
        yield "consume_queue_extension_unit", Entry(directory, offset, unit, size)
    queues = [("consume_queue_unit", queue, at, own_code)]
    if kind is Kind.LMQ:
        lmqs = dispatches_of(decode_properties(record.properties))
        names = (f"lmq_unit_{number}" for number in range(len(lmqs)))
        queues += [
            (name, f"{one.queue}/0", one.queue_offset, code)
            for name, one in zip(names, lmqs, strict=True)
        ]
    for name, path, number, unit_code in queues:
        place = f"consumequeue/{path}", number * UNIT_SIZE
        unit = unit_codec.encode((begin, len(data), unit_code))
        yield name, Entry(*place, unit, plan.queue_size)


def write_entry(root: Path, entry: Entry) -> None:
    """Write *entry* into its files below *root*."""
    directory = root / entry.directory
    directory.mkdir(parents=True, exist_ok=True)
    done = 0
    while done < len(entry.data):
        begin = entry.offset + done
        at = begin % entry.file_size
        data = entry.data[done : done + entry.file_size - at]
        write_at(directory / file_name(begin - at), at, data, entry.file_size)
        done += len(data)


def write_at(path: Path, position: int, data: bytes, size: int) -> None:
    """Write *data* into the file at *path* of *size* bytes, beside other writers."""
    with open(os.open(path, os.O_CREAT | os.O_RDWR, 0o644), "r+b") as file:
        if os.fstat(file.fileno()).st_size < size:
            file.truncate(size)
        file.seek(position)
        file.write(data)
