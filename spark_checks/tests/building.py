"""
Stores for tests, built with the encoders of the specification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spark_checks.generate.plan import Plan
from spark_checks.survey.summary import QueueSummary, SurveySummary
from spec.integers import tags_code
from spec.store.blank import Blank, encode_blank, room_for
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.file_names import file_name
from spec.store.message_record import Record, encode_record, record_size

BEGAN_AT_MS = 1_700_000_000_000
FAULTS_PLAN = Plan(
    seed=7,
    files=8,
    log_size=200 * 1024,
    queue_units=50,
    topics=8,
    queues=2,
    body_size=200,
)
"""Generated store with room for every kind of fault."""
SUMMARY = SurveySummary(
    records={
        ("Orders", 0): QueueSummary(
            count=100, matched_count=100, first=0, last=99, hash=0
        )
    },
    log_end=40_000,
    last_stored_at_ms=BEGAN_AT_MS + 1000,
    last_file_base=32_768,
    first_tail_base=32_768,
)
"""Summary of a survey of one queue with 100 messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Message of a built store."""

    topic: str
    queue_id: int
    queue_offset: int
    offset: int
    size: int
    log_size: int
    queue_size: int

    @property
    def log_file(self) -> str:
        """The commit-log file that holds the record."""
        return f"commitlog/{file_name(self.offset // self.log_size * self.log_size)}"

    @property
    def position(self) -> int:
        """Position of the record in that file."""
        return self.offset % self.log_size

    @property
    def queue_file(self) -> str:
        """The consume-queue file that holds the unit."""
        at = self.queue_offset * UNIT_SIZE
        name = file_name(at // self.queue_size * self.queue_size)
        return f"consumequeue/{self.topic}/{self.queue_id}/{name}"

    @property
    def unit_position(self) -> int:
        """Position of the unit in that file."""
        return self.queue_offset * UNIT_SIZE % self.queue_size


@dataclass(slots=True, kw_only=True)
class StoreBuilder:
    """Collects messages as a broker stores them, and writes the files."""

    log_size: int = 16_384
    queue_size: int = 400
    log: bytearray = field(default_factory=bytearray)
    queues: dict[tuple[str, int], list[Unit]] = field(default_factory=dict)
    placed: dict[tuple[str, int], list[Placed]] = field(default_factory=dict)

    def put(
        self,
        topic: str,
        queue_id: int = 0,
        *,
        body: bytes = b"b" * 40,
        tags: str = "",
        flags: int = 0,
        properties: str = "",
        half_at: int = 0,
    ) -> Placed:
        """Append a message and its unit, and return their places.

        *half_at* is the prepared transaction offset, that of a commit's half message.
        """
        units = self.queues.setdefault((topic, queue_id), [])
        stored_at_ms = BEGAN_AT_MS + len(self.log)
        record = Record(
            topic=topic,
            queue_id=queue_id,
            queue_offset=len(units),
            physical_offset=0,
            body=body,
            properties=properties + (f"TAGS\x01{tags}\x02" if tags else ""),
            system_flags=flags,
            stored_at_ms=stored_at_ms,
            prepared_transaction_offset=half_at,
        )
        offset = self._make_room(record_size(record))
        size = record_size(record)
        self._append(record, offset)
        units.append(
            Unit(commit_log_offset=offset, size=size, tags_code=tags_code(tags))
        )
        found = Placed(
            topic=topic,
            queue_id=queue_id,
            queue_offset=len(units) - 1,
            offset=offset,
            size=size,
            log_size=self.log_size,
            queue_size=self.queue_size,
        )
        self.placed.setdefault((topic, queue_id), []).append(found)
        return found

    def put_half(self, topic: str, *, flags: int) -> None:
        """Append a half message, which has no unit."""
        record = Record(
            topic=topic,
            queue_id=0,
            queue_offset=0,
            physical_offset=0,
            system_flags=flags,
            stored_at_ms=BEGAN_AT_MS + len(self.log),
        )
        self._append(record, self._make_room(record_size(record)))

    def write(self, root: Path) -> Path:
        """Write the store's files below *root* and return it."""
        for base in range(0, max(len(self.log), 1), self.log_size):
            data = bytes(self.log[base : base + self.log_size])
            path = root / "commitlog" / file_name(base)
            _write(path, data.ljust(self.log_size, b"\0"))
        for (topic, queue_id), units in self.queues.items():
            data = b"".join(map(encode_unit, units))
            for base in range(0, len(data), self.queue_size):
                name = f"consumequeue/{topic}/{queue_id}/{file_name(base)}"
                part = data[base : base + self.queue_size]
                _write(root / name, part.ljust(self.queue_size, b"\0"))
        safe_ms = BEGAN_AT_MS
        checkpoint = Checkpoint(physic_ms=safe_ms, logics_ms=safe_ms, index_ms=safe_ms)
        _write(root / "checkpoint", encode_checkpoint(checkpoint))
        _write(root / "config" / "topics.json", b'{"topicConfigTable":{}}')
        return root

    def _append(self, record: Record, offset: int) -> None:
        data = bytearray(encode_record(record))
        data[28:36] = offset.to_bytes(8, "big")
        self.log += data

    def _make_room(self, size: int) -> int:
        """Return the offset of a record of *size*, in the next file if necessary."""
        left = self.log_size - len(self.log) % self.log_size
        if not room_for(size, left=left):
            self.log += encode_blank(Blank(size=left)).ljust(left, b"\xaa")[:left]
        return len(self.log)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def overwrite(root: Path, file: str, offset: int, data: bytes) -> None:
    """Write *data* at *offset* of *file*."""
    with (root / file).open("r+b") as opened:
        opened.seek(offset)
        opened.write(data)


def flip(root: Path, file: str, offset: int, bits: int = 1) -> None:
    """Flip *bits* of the byte at *offset* of *file*."""
    with (root / file).open("r+b") as opened:
        opened.seek(offset)
        (byte,) = opened.read(1)
        opened.seek(offset)
        opened.write(bytes([byte ^ bits]))
