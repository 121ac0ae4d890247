"""
Uniform store: equal messages over any number of topics and queues.

It is for stores whose shape matters: thousands of queues, or one of a hundred million
units. Numpy writes them: a record is encoded once per queue, and copies differ only in
their numbers. Messages have a tag and no keys, so there is no index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from spark_checks.generate.entries import Entry, write_at, write_entry
from spark_checks.generate.plan import BEGAN_AT_MS, Plan, PlanError, log_size_for
from spark_checks.generate.rounds import STORE_HOST, TAGS
from spark_checks.readers.schemas import UNIT
from spec.derive.numpy_dtype import dtype_spec
from spec.host import Host
from spec.integers import tags_code
from spec.store.blank import BLANK_SIZE_MIN, Blank, encode_blank
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.store.message_record import Record, encode_record, record_layout, record_size
from spec.wire.message.properties import encode_properties

AT_ONCE = 1 << 16
"""Messages per numpy block."""
EACH_MS = 1
"""Milliseconds between the store times of two messages."""


@dataclass(frozen=True, kw_only=True)
class UniformPlan(Plan):
    """Content of a uniform store."""

    messages: int
    topics: int = 1
    queues: int = 1
    body_size: int = 32
    log_size: int = 0
    """Bytes of a commit-log file; 0 for a size that suits the messages."""
    files: int = field(init=False, default=1)

    counted: ClassVar = ["messages", "queue_units", "topics", "queues"]
    prefix: ClassVar[str] = "Plain"

    def __post_init__(self) -> None:
        super().__post_init__()
        log_size = self.log_size or log_size_for(self.messages * self.record_size)
        object.__setattr__(self, "log_size", log_size)
        if self.in_a_file < 1:
            raise PlanError(f"a message does not fit into {log_size}")
        object.__setattr__(self, "files", -(-self.messages // self.in_a_file))

    @cached_property
    def all_queues(self) -> tuple[tuple[str, int], ...]:
        """Topic and id of every queue, in the order of messages."""
        return tuple(
            (topic, number)
            for topic in self.topic_names
            for number in range(self.queues)
        )

    @cached_property
    def record_size(self) -> int:
        """Bytes of every record."""
        return record_size(self.record_of(0))

    @cached_property
    def in_a_file(self) -> int:
        """Messages of a commit-log file."""
        return (self.log_size - BLANK_SIZE_MIN) // self.record_size

    def before(self, queue: int, message: int) -> int:
        """Return the number of messages before *message* in that queue."""
        return max(-(-(message - queue) // len(self.all_queues)), 0)

    def record_of(self, queue: int) -> Record:
        """Return the first message of the queue with that index, at offset 0."""
        topic, queue_id = self.all_queues[queue]
        head = f"message of store {self.seed} ".encode()
        body = head * (self.body_size // len(head) + 1)
        properties = {"WAIT": "true", "TAGS": TAGS[queue % len(TAGS)]}
        return Record(
            topic=topic,
            queue_id=queue_id,
            queue_offset=0,
            physical_offset=0,
            body=body[: self.body_size],
            properties=encode_properties(properties),
            born_at_ms=BEGAN_AT_MS,
            born_host=Host(bytes([10, 0, 0, 1]), 40_000),
            stored_at_ms=BEGAN_AT_MS,
            store_host=STORE_HOST,
        )

    def offset_of(self, message: Any) -> Any:
        """Return the commit-log offsets of messages by their numbers."""
        in_file = message % self.in_a_file
        return message // self.in_a_file * self.log_size + in_file * self.record_size

    @property
    def counts(self) -> Mapping[tuple[str, int], int]:
        """Number of messages of each queue."""
        return {
            queue: self.before(index, self.messages)
            for index, queue in enumerate(self.all_queues)
        }


def uniform_records(plan: UniformPlan, numbers: range) -> npt.NDArray[Any]:
    """Return the records of the messages *numbers*, a row of bytes each."""
    spec = dtype_spec(record_layout, system_flags=0)
    dtype = np.dtype({**spec, "itemsize": plan.record_size})  # type: ignore[call-overload] # a dict
    number = np.arange(numbers.start, numbers.stop)
    queue = number % len(plan.all_queues)
    rows = _first_records(plan)[queue]
    fields = rows.view(dtype)[:, 0]
    fields["queue_offset"] = number // len(plan.all_queues)
    fields["physical_offset"] = plan.offset_of(number)
    fields["stored_at_ms"] = BEGAN_AT_MS + number * EACH_MS
    fields["born_at_ms"] = BEGAN_AT_MS + number * EACH_MS
    return rows


def uniform_units(plan: UniformPlan, queue: int, queue_offsets: range) -> bytes:
    """Return units of the queue with that index."""
    units = np.zeros(len(queue_offsets), dtype=UNIT)
    offsets = np.arange(queue_offsets.start, queue_offsets.stop)
    units["commit_log_offset"] = plan.offset_of(offsets * len(plan.all_queues) + queue)
    units["size"] = plan.record_size
    units["tags_code"] = tags_code(TAGS[queue % len(TAGS)])
    return units.tobytes()


def write_uniform_part(root: Path, plan: UniformPlan, part: int) -> None:
    """Write the log file of *part*, and its messages' units, below *root*."""
    numbers = range(
        part * plan.in_a_file, min((part + 1) * plan.in_a_file, plan.messages)
    )
    path = root / "commitlog" / file_name(part * plan.log_size)
    end = 0
    for some in _cut(numbers, AT_ONCE):
        data = uniform_records(plan, some).tobytes()
        write_at(path, end, data, plan.log_size)
        end += len(data)
    if part < plan.files - 1:
        write_at(
            path, end, encode_blank(Blank(size=plan.log_size - end)), plan.log_size
        )
    for index, queue in enumerate(plan.all_queues):
        first, last = (plan.before(index, n) for n in (numbers.start, numbers.stop))
        for some in _cut(range(first, last), AT_ONCE):
            data = uniform_units(plan, index, some)
            place = f"consumequeue/{queue[0]}/{queue[1]}", some.start * UNIT_SIZE
            write_entry(root, Entry(*place, data, plan.queue_size))


def _cut(numbers: range, size: int) -> Iterator[range]:
    for start in range(numbers.start, numbers.stop, size):
        yield range(start, min(start + size, numbers.stop))


@cache
def _first_records(plan: UniformPlan) -> npt.NDArray[np.uint8]:
    """Return the first record of every queue, a row each."""
    data = b"".join(
        encode_record(plan.record_of(queue)) for queue in range(len(plan.all_queues))
    )
    return np.frombuffer(data, np.uint8).reshape(-1, plan.record_size)
