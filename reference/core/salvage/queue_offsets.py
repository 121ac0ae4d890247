"""
Queue offsets without gaps, for the records that are left.

A broker appends the units of a queue in the order of the log. It does not leave room
for a lost one: with a gap, every later unit would be at another queue offset than its
record states. So later records of such a queue move down, and committed offsets with
them. Units below the end of a queue are left out, so a record with an earlier record's
queue offset moves to the end.

4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfo.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from reference.core.store.consumequeue.table import is_directory_name
from spec.integers import INT64_MAX
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import Record, SystemFlag
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import HALF_TOPIC, LMQ_PREFIX, OP_TOPIC
from spec.wire.send.batch_body import INNER_BATCH

_TRANSACTION = SystemFlag.TRANSACTION_ROLLBACK
"""Both bits of a transaction's state."""
_IN_QUEUE = (0, SystemFlag.TRANSACTION_COMMIT)
_PLACED_MAX = INT64_MAX // 2 // UNIT_SIZE
"""Queue offset up to which a consume queue can have a file."""
_OFFSETS = re.compile(rb"[0-9]{1,18}(,[0-9]{1,18})*,?")


class QueueName(NamedTuple):
    """A queue of a topic."""

    topic: str
    queue_id: int


class OffsetRange(NamedTuple):
    """Queue offsets from *begin* up to but without *end*."""

    begin: int
    end: int


class Run(NamedTuple):
    """Records of a queue in the order of the log, whose queue offsets follow."""

    begin: int
    first_end: int
    """Queue offset behind the first of them."""
    end: int
    record_count: int

    @property
    def is_placed(self) -> bool:
        """Whether a consume queue can have the first of them at its queue offset."""
        return 0 <= self.begin <= _PLACED_MAX


class Jump(NamedTuple):
    """A record whose queue offset does not follow that of the record before it."""

    end: int
    """Queue offset behind it if it had the offset that follows."""
    distance: int
    """Lost offsets. Negative: the offsets of earlier records are repeated."""
    top: int
    """Highest end of a record before it."""


class QueueOffsets:
    """The gaps of all queues, and the offsets that close them.

    A log that *is_whole* begins at 0, so that nothing of it has expired. Each of its
    queues begins at 0, too, and what is missing there is a gap. Other queues begin at
    their first record, or at *begins* where that has an offset that no queue can have.
    """

    def __init__(
        self, *, is_whole: bool, begins: Mapping[QueueName, int] | None = None
    ) -> None:
        self._is_whole = is_whole
        self.lost: dict[QueueName, list[OffsetRange]] = defaultdict(list)
        """Lost offsets between readable records, by queue, in order."""
        self.counts: dict[QueueName, int] = defaultdict(int)
        """Readable records that queues have."""
        self.begins: dict[QueueName, int] = dict(begins or {})
        """Queue offset from which on records are expected."""
        self.right_begins: dict[QueueName, int] = {}
        """Those that a later record shows, unlike the one that was taken."""
        self._guessed: set[QueueName] = set()
        """Queues all of whose records so far have offsets that no queue can have."""
        self.ends: dict[QueueName, int] = {}
        """Original queue offset behind the last readable record."""
        self.tops: dict[QueueName, int] = {}
        """Highest such offset so far, which is another if offsets are repeated."""
        self.disordered_count = 0
        """Records whose queue offset does not follow, without a loss."""
        self.nameless_count = 0
        """Records whose topic or queue id cannot name a queue."""
        self._jumps: dict[QueueName, Jump] = {}
        """Queues whose last record does not follow."""
        self._distances: dict[QueueName, int] = defaultdict(int)
        """Sum of the jumps."""

    def add(self, record: Record) -> int:
        """Return the new queue offset of the next *record* of the log."""
        if record.system_flags & _TRANSACTION not in _IN_QUEUE:
            return record.queue_offset
        return self.add_run(queue_of(record), run_of(record))

    def add_run(self, name: QueueName, run: Run) -> int:
        """Return the new queue offset of the first of the next records of a queue."""
        if name.queue_id < 0 or not is_directory_name(name.topic):
            self.nameless_count += run.record_count
            return run.begin
        if not run.is_placed:
            if name not in self.begins and not self._is_whole:
                self._guessed.add(name)
            run = _at(run, self.ends.get(name, self.begins.get(name, 0)))
            self.disordered_count += run.record_count
        elif name in self._guessed:
            self._guessed.discard(name)
            if run.begin > self.ends[name]:
                self.right_begins[name] = run.begin - self.ends[name]
        offset, length = run.begin, run.first_end - run.begin
        begin = self.begins.setdefault(name, 0 if self._is_whole else offset)
        end, top = self.ends.get(name, begin), self.tops.get(name, 0)
        if offset != end and name in self._jumps and offset == self._jumps[name].end:
            end, top = offset, self._undo(name)
        self._jumps.pop(name, None)
        if offset != end:
            if run.record_count == 1:
                self._jumps[name] = Jump(end + length, offset - end, top)
            self._distances[name] += offset - end
            if offset > end:
                self.lost[name].append(OffsetRange(end, offset))
            else:
                self.disordered_count += 1
        self.ends[name] = run.end
        self.tops[name] = max(run.end, top)
        self.counts[name] += run.record_count
        return offset - self._distances[name]

    def part(self, names: Collection[QueueName]) -> QueueOffsets:
        """Return a copy with the queues *names* only."""
        begins = {name: self.begins[name] for name in names if name in self.begins}
        found = QueueOffsets(is_whole=self._is_whole, begins=begins)
        for name in names:
            if name not in self.ends:
                continue
            found.lost[name] = [*self.lost.get(name, ())]
            found.counts[name] = self.counts[name]
            found.ends[name] = self.ends[name]
            found.tops[name] = self.tops[name]
            found._distances[name] = self._distances[name]
            if name in self._jumps:
                found._jumps[name] = self._jumps[name]
        return found

    def _undo(self, name: QueueName) -> int:
        """Take back the last jump of a queue: its record had a wrong queue offset.

        Return the highest end of a record before it.
        """
        jump = self._jumps[name]
        self._distances[name] -= jump.distance
        if jump.distance > 0:
            self.lost[name].pop()
            self.disordered_count += 1
        return jump.top

    def moved(self, name: QueueName, offset: int) -> int:
        """Return the new offset for an original *offset* of a queue."""
        lost = self.lost.get(name, ())
        return offset - sum(max(min(offset, one.end) - one.begin, 0) for one in lost)

    def committed(self, name: QueueName, offset: int) -> int:
        """Return the new offset for a committed or delivered *offset* of a queue.

        It is at most the queue's new end: of one behind it, messages are missed or
        repeated. Records do not show the end of an LMQ.

        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage
        (OFFSET_OVERFLOW_BADLY) and
        org.apache.rocketmq.store.schedule.ScheduleMessageService.
        """
        moved = self.moved(name, offset)
        if name.topic.startswith(LMQ_PREFIX):
            return moved
        return min(moved, self.ends.get(name, 0) - self._distances.get(name, 0))

    def is_lost(self, name: QueueName, offset: int) -> bool:
        """Return whether no record so far has this original *offset* of a queue.

        Offsets below the first readable record count as there: they have expired.
        """
        lost = self.lost.get(name, ())
        is_in_gap = any(one.begin <= offset < one.end for one in lost)
        return is_in_gap or offset >= self.tops.get(name, 0)


def queue_of(record: Record) -> QueueName:
    """Return the queue of *record*."""
    return QueueName(record.topic, record.queue_id)


def run_of(record: Record) -> Run:
    """Return the run of *record* alone."""
    end = record.queue_offset + _length(record)
    return Run(record.queue_offset, end, end, 1)


def _at(run: Run, begin: int) -> Run:
    """Return *run* with its first record at the queue offset *begin*."""
    length, first_length = run.end - run.begin, run.first_end - run.begin
    return Run(begin, begin + first_length, begin + length, run.record_count)


def _length(record: Record) -> int:
    """Return the number of queue offsets that a record takes: a batch of 5.x several.

    5.3.3 org.apache.rocketmq.store.queue.BatchConsumeQueue.
    """
    if not record.system_flags & INNER_BATCH:
        return 1
    count = decode_properties(record.properties).get(Property.INNER_NUM, "")
    return int(count) if count.isdecimal() else 1


def with_half_offsets(record: Record, offsets: QueueOffsets) -> Record | None:
    """Return *record*; an op message with the new offsets of its half messages.

    None for an op message whose half messages are all lost: its number would decide
    another transaction. The body of an op message is the queue offset of a half
    message, from 5.0 on several with commas between. The offsets get leading zeros,
    which Java's Long.parseLong accepts, so that the record keeps its size.

    4.6.0 org.apache.rocketmq.broker.transaction.queue.TransactionalMessageServiceImpl
    #fillOpRemoveMap.
    """
    half, stated = half_offsets(record)
    if not stated:
        return record
    left = [one for one in stated if not offsets.is_lost(half, one)]
    if not left:
        return None
    body = b",".join(b"%d" % offsets.moved(half, one) for one in left)
    return replace(record, body=body.rjust(len(record.body), b"0"))


def half_offsets(record: Record) -> tuple[QueueName, Sequence[int]]:
    """Return the queue of half messages of an op message, and the offsets it names.

    Other records name none.
    """
    half = QueueName(HALF_TOPIC, record.queue_id)
    if record.topic != OP_TOPIC or not _OFFSETS.fullmatch(record.body):
        return half, ()
    return half, [int(one) for one in record.body.split(b",") if one]
