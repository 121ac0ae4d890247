"""
Flushing: when the broker's log and queues are brought to disk, and who waits for it.

It takes long, so it is asked of the shell, which does it aside and reports back. At
most one flush of each kind is under way: what is put meanwhile goes with the next
one, so that one flush answers many producers (Java: group commit).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reference.core.effects import Flush
from reference.core.store.api import FlushMode
from reference.core.store.file_queue import FileQueue, FlushMark
from reference.core.store.files import MappedFile
from reference.core.store.flush_rounds import Rounds
from reference.core.store.pending_puts import PendingPuts, Told

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

RETRY_MS = 500
"""How long a flush that the disk refused is not tried again."""


_LOG, _QUEUES, _CHECKPOINT = "log", "queues", "checkpoint"


class Work(NamedTuple):
    """A flush that is under way."""

    kind: str
    rows: tuple[FileQueue, ...]
    """Whose files they are."""
    done: Callable[[], None]
    """What to do when the files are on disk."""


class Flushing:
    """The flushes of one broker's store."""

    def __init__(self, broker: Broker) -> None:
        self.is_sync = broker.store.options.flush_mode is FlushMode.SYNC_FLUSH
        """Whether producers wait for the disk; later changes have no effect."""
        self.pending = PendingPuts()
        self._broker = broker
        self._store = broker.store
        self._number = broker.options.number
        self._under_way: dict[int, Work] = {}
        self._refused = ""
        self._log_rounds = Rounds()
        self._queue_rounds = Rounds()
        self._commit_rounds = Rounds()

    def start(self, now_ms: int) -> None:
        """Begin."""
        self._every("flushIntervalCommitLog", self._log_round, now_ms)
        self._every("flushIntervalConsumeQueue", self._queue_round, now_ms)
        if self._store.log.pool is not None:
            self._commit_round(now_ms)  # the first is thorough, and finds nothing
            self._every("commitIntervalCommitLog", self._commit_round, now_ms)

    def wait(self, end: int, *, now_ms: int, tell: Told) -> None:
        """Tell *tell* when the log is on disk up to *end*, or that it is not soon."""
        patience_ms = self._number("syncFlushTimeout")  # [STORE-DEFAULT-007]
        if patience_ms <= 0:
            tell(False)
            return
        is_first, deadline_ms = not self.pending, now_ms + patience_ms
        self.pending.wait(end, deadline_ms=deadline_ms, tell=tell)
        if is_first:
            self._broker.schedule.at(deadline_ms, self._give_up)

    def has_put(self, now_ms: int) -> None:
        """Do at once what does not wait for the next round."""
        pool = self._store.log.pool
        if pool is not None and pool.is_due(self._number("commitCommitLogLeastPages")):
            self._commit(now_ms)  # [STORE-FLUSH-007]
        if self.is_sync:
            self._flush_log()

    def finished(self, number: int, now_ms: int, refused: str) -> None:
        """Use the news that files are on disk, or of why they are not."""
        work = self._under_way.pop(number)
        if refused:
            self._complain(refused)
            for row in work.rows:
                row.write_again()
            if self.is_sync:
                self._broker.schedule.at(now_ms + RETRY_MS, self._log_round)
            return
        self._refused = ""
        work.done()

    def _every(self, setting: str, job: Callable[[int], None], now_ms: int) -> None:
        period_ms = self._number(setting)
        self._broker.schedule.every(period_ms, job, first_ms=now_ms + period_ms)

    def _log_round(self, now_ms: int) -> None:
        if self._is_under_way(_LOG):
            return
        pages = self._log_rounds.pages(  # [STORE-DEFAULT-005]
            now_ms,
            least=self._number("flushCommitLogLeastPages"),
            thorough_ms=self._number("flushCommitLogThoroughInterval"),
        )
        log = self._store.log
        if pages == 0 and log.queue.flushed == log.queue.end:
            # Rounds for full pages have left nothing: there is only to vouch for it.
            self._store.log_flushed(log.queue.mark(), log.in_files_until_ms)
        else:
            self._flush_log(pages)

    def _flush_log(self, least_pages: int = 0) -> None:
        log = self._store.log
        is_due = log.queue.is_due(0 if self.is_sync else least_pages)
        if is_due and not self._is_under_way(_LOG):
            mark = log.queue.mark()
            # Only a round that leaves nothing waiting vouches for a time.
            vouched_ms = 0 if least_pages else log.in_files_until_ms
            done = partial(self._log_flushed, mark, vouched_ms)
            self._ask(Work(_LOG, (log.queue,), done), mark.files)

    def _log_flushed(self, mark: FlushMark, vouched_ms: int) -> None:
        self._store.log_flushed(mark, vouched_ms)  # [STORE-FLUSH-004]
        self.pending.reached(self._store.log.queue.flushed)
        if self.is_sync:
            self._flush_log()

    def _give_up(self, now_ms: int) -> None:
        """Tell who has waited too long; come again for the others."""
        self.pending.give_up(now_ms)
        deadline_ms = self.pending.deadline_ms
        if deadline_ms is not None:
            self._broker.schedule.at(deadline_ms, self._give_up)

    def _queue_round(self, now_ms: int) -> None:
        self._broker.wake(self._store.catch_up(), now_ms)
        if self._is_under_way(_QUEUES):
            return
        least_pages = self._queue_rounds.pages(  # [STORE-DEFAULT-006]
            now_ms,
            least=self._number("flushConsumeQueueLeastPages"),
            thorough_ms=self._number("flushConsumeQueueThoroughInterval"),
        )
        rows = [row for queue in self._store.queues for row in queue.file_queues]
        marks = [(row, row.mark()) for row in rows if row.is_due(least_pages)]
        files = tuple(file for _, mark in marks for file in mark.files)
        vouched_ms = None if least_pages else self._store.checkpoint.logics_ms
        if files or vouched_ms is not None:
            done = partial(self._queues_flushed, marks, vouched_ms)
            self._ask(Work(_QUEUES, tuple(row for row, _ in marks), done), files)

    def _queues_flushed(
        self,
        marks: Sequence[tuple[FileQueue, FlushMark]],
        vouched_ms: int | None,
    ) -> None:
        for row, mark in marks:
            row.has_flushed(mark)
        if vouched_ms is not None:
            # What was dispatched meanwhile is not on disk: the file does not say so.
            file = self._store.checkpoint.write(logics_ms=vouched_ms)
            self._ask(Work(_CHECKPOINT, (), lambda: None), (file,))

    def _commit_round(self, now_ms: int) -> None:
        pool = self._store.log.pool
        pages = self._commit_rounds.pages(  # [STORE-DEFAULT-008]
            now_ms,
            least=self._number("commitCommitLogLeastPages"),
            thorough_ms=self._number("commitCommitLogThoroughInterval"),
        )
        if pool is not None and pool.is_due(pages):
            self._commit(now_ms)

    def _commit(self, now_ms: int) -> None:
        """Bring the pool's messages into the log, where readers find them."""
        self._store.commit_pool()
        self._broker.let_see(now_ms)

    def _complain(self, refused: str) -> None:
        """Say once what the disk refuses, and not with every attempt."""
        if refused != self._refused:
            self._refused = self._store.refused = refused
            self._broker.complain(refused)

    def _is_under_way(self, kind: str) -> bool:
        return any(work.kind == kind for work in self._under_way.values())

    def _ask(self, work: Work, files: tuple[MappedFile, ...]) -> None:
        number = self._broker.next_number()
        self._under_way[number] = work
        self._broker.ask(Flush(files, number))
