"""
One part of a generated store: a commit-log file with its units, items and extensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from spark_checks.generate.entries import Entry, entries_of, write_at, write_entry
from spark_checks.generate.index_part import index_file_name, index_of
from spark_checks.generate.plan import Plan, PlanError
from spark_checks.generate.rounds import Kind, records_of_round, steps_of
from spec.store.blank import BLANK_SIZE_MIN, Blank, encode_blank
from spec.store.message_record import Record, record_size

_SLACK = 16
"""Bytes by which the numbers in a record may grow after the first round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Message of a generated store, with its places."""

    plan: Plan
    record: Record
    round: int
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
    def queue(self) -> tuple[str, int]:
        """Topic and queue."""
        return self.record.topic, self.record.queue_id

    @property
    def kind(self) -> Kind:
        """Kind of the message."""
        return steps_of(self.plan)[self.step].kind

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The structures about the message, by name."""
        return dict(entries_of(self.plan, self.kind, self.record))

    @property
    def record_place(self) -> tuple[str, int]:
        """File and position of the record."""
        return self.entries["message_record"].place

    @property
    def unit_place(self) -> tuple[str, int]:
        """File and position of the unit that points at the record."""
        return self.entries["consume_queue_unit"].place


@cache
def rounds_of(plan: Plan) -> int:
    """Return the number of rounds that fit into each file of *plan*."""
    size = sum(record_size(record) for record in records_of_round(plan, 0, 0))
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
        for step, record in enumerate(records_of_round(plan, number, at)):
            yield Placed(plan=plan, record=record, round=number, step=step)
            at = record.physical_offset + record_size(record)


def write_part(root: Path, plan: Plan, part: int) -> None:
    """Write *part* into the store at *root*, whose directories exist."""
    runs: dict[str, tuple[Entry, bytearray]] = {}
    records = []
    for message in messages_of(plan, part):
        records.append(message.record)
        for entry in message.entries.values():  # follow each other in a directory
            runs.setdefault(entry.directory, (entry, bytearray()))[1].extend(entry.data)
    _, log = runs["commitlog"]
    if part < plan.files - 1:
        log += encode_blank(Blank(size=plan.log_size - len(log)))
    for first, data in runs.values():
        write_entry(root, replace(first, data=bytes(data)))
    index = root / "index" / index_file_name(records[0].stored_at_ms)
    items = index_of(records)
    write_at(index, 0, items, len(items))
