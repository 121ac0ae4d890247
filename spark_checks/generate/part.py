"""
One part of a generated store: a commit-log file with its units, items and extensions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spark_checks.generate.encoding import (
    tags_code_of,
    with_checksum,
)
from spark_checks.generate.index_part import index_file_name, index_of
from spark_checks.generate.plan import BEGAN_AT_MS, Plan, PlanError
from spark_checks.generate.rich_part import Piece, extension_offset, rich_pieces
from spark_checks.generate.rounds import Kind, counts_of, records_of_round, steps_of
from spec.store.blank import BLANK_SIZE_MIN, Blank, encode_blank
from spec.store.consume_queue import UNIT_SIZE, unit_codec
from spec.store.file_names import file_name
from spec.store.message_record import Record, encode_record, record_size
from spec.store.queue_extension import extension_address

_SLACK = 16
"""Bytes by which the numbers in a record may grow after the first round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Message of a generated store, with its places."""

    plan: Plan
    record: Record
    step: int
    """Index of its step in the round."""

    @property
    def offset(self) -> int:
        """The record's commit-log offset."""
        return self.record.physical_offset

    @property
    def size(self) -> int:
        """Bytes of the record."""
        return record_size(self.record)

    @property
    def log_file(self) -> str:
        """The commit-log file that holds the record."""
        return f"commitlog/{file_name(self.offset - self.position)}"

    @property
    def position(self) -> int:
        """Position of the record in that file."""
        return self.offset % self.plan.log_size

    @property
    def queue(self) -> tuple[str, int]:
        """Topic and queue."""
        return self.record.topic, self.record.queue_id

    @property
    def queue_file(self) -> str:
        """The consume-queue file that holds the unit."""
        at = self.record.queue_offset * UNIT_SIZE - self.unit_position
        return f"consumequeue/{self.record.topic}/{self.record.queue_id}/" + (
            file_name(at)
        )

    @property
    def unit_position(self) -> int:
        """Position of the unit in that file."""
        return self.record.queue_offset % self.plan.queue_units * UNIT_SIZE

    @property
    def unit(self) -> bytes:
        """The unit that points at the record."""
        return unit_codec.encode((self.offset, self.size, self.tags_code))

    @property
    def tags_code(self) -> int:
        """Tags code in that unit; in a rich store an extension address."""
        if self.plan.is_rich:
            return extension_address(extension_offset(self.record.queue_offset))
        return tags_code_of(self.record)

    @property
    def kind(self) -> Kind:
        """Kind of the message."""
        return steps_of(self.plan)[self.step].kind


@cache
def rounds_of(plan: Plan) -> int:
    """Return the number of rounds that fit into each file of *plan*."""
    size = sum(record_size(record) for record in _round(plan, 0, 0))
    spread = plan.body_size // 16 + _SLACK
    most = size + len(steps_of(plan)) * spread
    rounds = (plan.log_size - BLANK_SIZE_MIN) // most
    if rounds < 1:
        raise PlanError(f"a round of {most} bytes does not fit into {plan.log_size}")
    return rounds


def messages_of(plan: Plan, part: int) -> Iterator[Placed]:
    """Yield the messages of *part*, in the order of the log."""
    rounds = rounds_of(plan)
    at = part * plan.log_size
    for number in range(part * rounds, (part + 1) * rounds):
        for step, record in enumerate(_round(plan, number, at)):
            yield Placed(plan=plan, record=record, step=step)
            at = record.physical_offset + record_size(record)


def _round(plan: Plan, number: int, begin: int) -> Iterator[Record]:
    records = records_of_round(plan, number, begin)
    record = next(records, None)
    while record is not None:
        if plan.is_rich:
            record = with_checksum(record)
        yield record
        try:
            record = records.send(record.physical_offset + record_size(record))
        except StopIteration:
            return


def write_part(root: Path, plan: Plan, part: int) -> None:
    """Write *part* into the store at *root*, whose directories exist."""
    log = bytearray()
    units: dict[tuple[str, int], bytearray] = {}
    placed = []
    for message in messages_of(plan, part):
        log += encode_record(message.record)
        if message.kind is not Kind.BATCH:
            units.setdefault(message.queue, bytearray()).extend(message.unit)
        placed.append(message)
    left = plan.log_size - len(log)
    if part < plan.files - 1:
        log += encode_blank(Blank(size=left))
    path = root / "commitlog" / file_name(part * plan.log_size)
    write_at(path, 0, bytes(log), plan.log_size)
    first_round = part * rounds_of(plan)
    for queue, data in units.items():
        begin = first_round * counts_of(plan)[queue] * UNIT_SIZE
        write_units(root, plan.queue_size, queue, begin, bytes(data))
    if plan.is_rich:
        with_steps = [(message.step, message.record) for message in placed]
        for piece in rich_pieces(plan, first_round, with_steps):
            _write_piece(root, piece)
    began_at_ms = placed[0].record.stored_at_ms if placed else BEGAN_AT_MS
    index = root / "index" / index_file_name(began_at_ms)
    items = index_of([message.record for message in placed])
    write_at(index, 0, items, len(items))


def write_units(
    root: Path, size: int, queue: tuple[str, int], begin: int, data: bytes
) -> None:
    """Write units into the files of *queue*, from byte *begin* of the queue.

    Each file has *size* bytes.
    """
    directory = f"consumequeue/{queue[0]}/{queue[1]}"
    piece = Piece(directory=directory, begin=begin, data=data, file_size=size)
    _write_piece(root, piece)


def _write_piece(root: Path, piece: Piece) -> None:
    """Write *piece* into its files."""
    directory = root / piece.directory
    directory.mkdir(parents=True, exist_ok=True)
    done = 0
    while done < len(piece.data):
        begin = piece.begin + done
        at = begin % piece.file_size
        data = piece.data[done : done + piece.file_size - at]
        write_at(directory / file_name(begin - at), at, data, piece.file_size)
        done += len(data)


def write_at(path: Path, position: int, data: bytes, size: int) -> None:
    """Write *data* into the file at *path* of *size* bytes, beside other writers."""
    opened = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if os.fstat(opened).st_size < size:
            os.ftruncate(opened, size)
        view, done = memoryview(data), 0
        while done < len(data):
            done += os.pwrite(opened, view[done:], position + done)
    finally:
        os.close(opened)
