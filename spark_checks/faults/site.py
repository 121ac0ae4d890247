"""
Site for planting faults: a generated store with the places already taken.

A fault takes a message, queue or file that no other fault is near, so that one audit
can find many. Its consequences, such as the unit of a lost record, are allowed
findings. Any other finding is an error of the audit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from spark_checks.generate.index_part import hashes_of
from spark_checks.generate.part import Placed, messages_of, rounds_of
from spark_checks.generate.plan import Plan, PlanError
from spark_checks.generate.rounds import Kind, steps_of, with_checksum
from spec.store.message_record import Record, encode_record
from spec.store.record_checksum import CHECKSUM_SIZE

FIRST_ROUND = 5
"""First round that takes faults; offsets before it are too small to change."""
INDEX_PART, INDEX_ITEMS = 1, 400
"""Number of the index file that takes faults of items, and of items that may change.

Rounds of these items' messages take no other fault.
"""


@dataclass(slots=True, kw_only=True)
class Site:
    """Generated store for faults, with the places already taken."""

    root: Path
    plan: Plan
    next_round: int = FIRST_ROUND
    queues_taken: int = 0
    _messages: dict[int, list[Placed]] = field(default_factory=dict)

    def part(self, number: int) -> list[Placed]:
        """Return all messages of one commit-log file."""
        if number not in self._messages:
            self._messages[number] = list(messages_of(self.plan, number))
        return self._messages[number]

    def round(self, number: int) -> list[Placed]:
        """Return all messages of one round."""
        rounds, steps = rounds_of(self.plan), len(steps_of(self.plan))
        begin = number % rounds * steps
        return self.part(number // rounds)[begin : begin + steps]

    def take_round(self) -> list[Placed]:
        """Return a round that no other fault has, nor the rounds beside it."""
        while self._is_for_items(self.next_round):
            self.next_round += 1
        number = self.next_round
        self.next_round += 2
        last = rounds_of(self.plan) * self.plan.files - 1
        if self.next_round > last:
            raise PlanError("the store is too small for so many faults")
        return self.round(number)

    def _is_for_items(self, number: int) -> bool:
        """Return whether faults of index items may be about messages of a round."""
        part, begin = divmod(number, rounds_of(self.plan))
        if part != INDEX_PART:
            return False
        before = self.part(part)[: begin * len(steps_of(self.plan))]
        return sum(len(list(hashes_of(m.record))) for m in before) <= INDEX_ITEMS

    def take_kinds(self) -> dict[Kind, Placed]:
        """Return a message of each kind, of a round that no other fault has.

        The ordinary one is of the second topic, whose queues all have the same
        messages.
        """
        found: dict[Kind, Placed] = {}
        for message in self.take_round():
            is_second = message.record.topic == self.plan.topic_names[1]
            if message.kind is not Kind.ORDINARY or is_second:
                found.setdefault(message.kind, message)
        return found

    def take(self, kind: Kind = Kind.ORDINARY) -> Placed:
        """Return a message of *kind* that no other fault has."""
        return self.take_kinds()[kind]

    def take_queue(self) -> list[Placed]:
        """Return the messages of a queue that no other fault has."""
        topics = self.plan.topic_names[2:-1]
        places = [(t, q) for t in topics for q in range(self.plan.queues)]
        if self.queues_taken >= len(places):
            raise PlanError("the store has too few queues for so many faults")
        place = places[self.queues_taken]
        self.queues_taken += 1
        parts = map(self.part, range(self.plan.files))
        return [message for part in parts for message in part if message.queue == place]

    def after(self, message: Placed) -> Placed:
        """Return the message that follows *message* in its queue."""
        number = message.round
        wanted = message.record.queue_offset + 1
        return next(
            one
            for one in (*self.round(number), *self.round(number + 1))
            if one.queue == message.queue and one.record.queue_offset == wanted
        )

    def beside(self, message: Placed) -> Placed:
        """Return the message with the queue offset of *message* in the next queue."""
        topic, queue_id = message.queue
        return next(
            one
            for one in self.round(message.round)
            if one.queue == (topic, queue_id ^ 1)
        )

    def read(self, file: str, offset: int, size: int) -> bytes:
        """Return at most *size* bytes at *offset* of *file*."""
        with (self.root / file).open("rb") as opened:
            opened.seek(offset)
            return opened.read(size)

    def overwrite(self, place: tuple[str, int], data: bytes) -> None:
        """Write *data* at *place*, a file and an offset in it."""
        with (self.root / place[0]).open("r+b") as opened:
            opened.seek(place[1])
            opened.write(data)

    def cut(self, file: str, size: int) -> None:
        """Truncate *file* to *size* bytes."""
        with (self.root / file).open("r+b") as opened:
            opened.truncate(size)

    def rewrite(self, message: Placed, record: Record) -> None:
        """Write *record*, of equal size, in place of *message*."""
        data = encode_record(record)
        if len(data) != message.size:
            raise PlanError(f"{len(data)} bytes do not replace {message.size}")
        self.overwrite(message.record_place, data)

    def change(self, message: Placed, change: Callable[[Record], Record]) -> None:
        """Rewrite *message* as *change* makes it; its whole checksum stays right."""
        record = message.record
        if self.plan.is_rich:
            text = record.properties[:-CHECKSUM_SIZE]
            changed = with_checksum(change(replace(record, properties=text)))
        else:
            changed = change(record)
        self.rewrite(message, changed)
