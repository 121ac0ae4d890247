"""
Extensions, LMQs and the batch consume queue of one part of a rich store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_checks.generate.encoding import tags_code_of
from spark_checks.generate.plan import BATCH_TOPIC, LMQ_NAMES, Plan
from spark_checks.generate.rounds import BATCH_COUNT, Kind, steps_of
from spec.store import batch_queue, queue_extension
from spec.store.batch_queue import BATCH_QUEUE, BatchUnit, encode_batch_unit
from spec.store.consume_queue import UNIT_SIZE, unit_codec
from spec.store.message_record import Record, record_size
from spec.store.queue_extension import (
    END_SIZE,
    EXTENSION,
    SMALLEST_SIZE,
    ExtensionUnit,
    encode_extension_unit,
)

EXTENSION_UNITS = 40
"""Units of an extension file; all have one size, without bit maps."""
EXTENSION_FILE_SIZE = EXTENSION_UNITS * SMALLEST_SIZE + END_SIZE
_END = queue_extension.END_MARK.to_bytes(2, "big", signed=True).ljust(END_SIZE, b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes within a sequence of equally large files."""

    directory: str
    begin: int
    """Begin of the bytes, counted over all files."""
    data: bytes
    file_size: int


def extension_offset(queue_offset: int) -> int:
    """Return the offset of a message's extension unit, over all files."""
    file, number = divmod(queue_offset, EXTENSION_UNITS)
    return file * EXTENSION_FILE_SIZE + number * SMALLEST_SIZE


def rich_pieces(
    plan: Plan, first_round: int, records: Sequence[tuple[int, Record]]
) -> Iterator[Piece]:
    """Yield the pieces for the *records* of a part, each given with its step."""
    of_queue: dict[tuple[str, int], list[Record]] = {}
    light, batches = bytearray(), bytearray()
    for step, record in records:
        kind = steps_of(plan)[step].kind
        if kind is Kind.BATCH:
            batches += batch_unit_of(record)
            continue
        of_queue.setdefault((record.topic, record.queue_id), []).append(record)
        if kind is Kind.LMQ:
            place = record.physical_offset, record_size(record)
            light += unit_codec.encode((*place, tags_code_of(record)))
    for (topic, queue_id), queue in of_queue.items():
        yield _extension(f"{EXTENSION}/{topic}/{queue_id}", queue)
    for name in LMQ_NAMES:
        yield Piece(
            directory=f"consumequeue/{name}/0",
            begin=first_round * UNIT_SIZE,
            data=bytes(light),
            file_size=plan.queue_size,
        )
    yield Piece(
        directory=f"{BATCH_QUEUE}/{BATCH_TOPIC}/0",
        begin=first_round * batch_queue.UNIT_SIZE,
        data=bytes(batches),
        file_size=plan.queue_units * batch_queue.UNIT_SIZE,
    )


def batch_unit_of(record: Record) -> bytes:
    """Return the unit of the batch *record*."""
    return encode_batch_unit(
        BatchUnit(
            commit_log_offset=record.physical_offset,
            size=record_size(record),
            tags_code=tags_code_of(record),
            stored_at_ms=record.stored_at_ms,
            first_queue_offset=record.queue_offset,
            message_count=BATCH_COUNT,
        )
    )


def _extension(directory: str, queue: Sequence[Record]) -> Piece:
    """Return the extension units of adjacent messages of a *queue*.

    The writer of a file's first unit also marks the end of the file before.
    """
    data = bytearray()
    begin = extension_offset(queue[0].queue_offset)
    for record in queue:
        if record.queue_offset and not record.queue_offset % EXTENSION_UNITS:
            begin -= 0 if data else END_SIZE
            data += _END
        unit = ExtensionUnit(
            tags_code=tags_code_of(record), stored_at_ms=record.stored_at_ms
        )
        data += encode_extension_unit(unit)
    return Piece(
        directory=directory,
        begin=begin,
        data=bytes(data),
        file_size=EXTENSION_FILE_SIZE,
    )
