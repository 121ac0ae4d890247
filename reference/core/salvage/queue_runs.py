"""
Runs of queue offsets in one commit-log file, for a log that is not read in order.
"""

from __future__ import annotations

from collections import defaultdict

from reference.core.salvage.queue_offsets import (
    OffsetRange,
    QueueName,
    QueueOffsets,
    Run,
    half_offsets,
)
from spec.store.message_record import Record


class QueueRuns(QueueOffsets):
    """The runs of one file's records, counted without those before it.

    Added to the offsets of the log before, they give what its records do. Op messages
    are an exception: they are left out if their half messages are lost.
    """

    def __init__(self) -> None:
        super().__init__(is_whole=False)
        self.runs: dict[QueueName, list[Run]] = defaultdict(list)
        """Runs by queue, in order."""
        self._named: dict[QueueName, OffsetRange] = {}
        """Range of the half messages that op messages name, by queue."""
        self._ends_before: dict[QueueName, int] = {}
        """Least end of a queue before this file with which no named one is lost."""
        self._has_lost_half = False

    def add_run(self, name: QueueName, run: Run) -> int:
        """Return the queue offset of the first of the next records of a queue."""
        runs = self.runs[name]
        follows = runs and runs[-1].end == run.begin
        if follows and runs[-1].is_placed == run.is_placed:
            count = runs[-1].record_count + run.record_count
            runs[-1] = runs[-1]._replace(end=run.end, record_count=count)
        else:
            runs.append(run)
        return super().add_run(name, run)

    @property
    def queues(self) -> set[QueueName]:
        """The queues of the records, and of half messages that they name."""
        return {*self.runs, *self._named}

    def note_halves(self, record: Record) -> Record:
        """Note the half messages that the next *record* of the file names."""
        name, stated = half_offsets(record)
        for offset in stated:
            known = self._named.get(name, OffsetRange(offset, offset))
            self._named[name] = OffsetRange(
                min(known.begin, offset), max(known.end, offset + 1)
            )
            if offset < self.begins.get(name, offset + 1):
                needed = max(self._ends_before.get(name, 0), offset + 1)
                self._ends_before[name] = needed
            else:
                self._has_lost_half |= self.is_lost(name, offset)
        return record

    def may_lose_op_messages(self, before: QueueOffsets) -> bool:
        """Return whether half messages that op messages name may be lost."""
        return (
            self._has_lost_half
            or any(
                before.ends.get(name, 0) < needed
                for name, needed in self._ends_before.items()
            )
            or any(len(self.runs.get(name, ())) > 1 for name in self._named)
            or any(
                gap.begin < named.end and named.begin < gap.end
                for name, named in self._named.items()
                for gap in before.lost.get(name, ())
            )
        )

    def add_to(self, before: QueueOffsets) -> None:
        """Add the runs to the offsets of the log *before*."""
        for name, runs in self.runs.items():
            for run in runs:
                before.add_run(name, run)
