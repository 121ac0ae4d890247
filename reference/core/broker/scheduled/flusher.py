"""
Flushes of the commit log and the consume queues (Java: FlushRealTimeService).

A flush blocks, so the shell performs it on another thread and reports its end. At most
one flush of each kind is under way. Messages that are put meanwhile go with the next
one, so that one flush completes many puts (Java: GroupCommitService).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from reference.core.broker.state import BrokerState
from reference.core.remoting.effects import Flush
from reference.core.remoting.server import RemotingServer
from reference.core.remoting.timers import DeadlineTimer
from reference.core.store.flush import FlushPolicy, GroupCommitQueue, OnCommit
from reference.core.store.mapped.files import FilesError, MappedFile
from reference.core.store.mapped.mapped_file_queue import FlushMark, MappedFileQueue
from reference.core.store.types import DispatchRequest, FlushMode

RETRY_MS = 500
"""Time after which a flush that the disk refused is tried again."""


_LOG, _QUEUES, _CHECKPOINT = "log", "queues", "checkpoint"
_NOT_STORED = "new messages are not stored", "new messages are stored again"
_NOT_READABLE = (
    "messages are stored, but not readable",
    "the stored messages are readable again",
)
"""Log lines for the begin and the end of an error that lasts."""


class FlushWork(NamedTuple):
    """A flush that is under way."""

    kind: str
    queues: tuple[MappedFileQueue, ...]
    on_done: Callable[[], None]


class Flusher:
    """The flushes of one store."""

    def __init__(
        self,
        state: BrokerState,
        remoting: RemotingServer,
        *,
        on_messages: Callable[[list[DispatchRequest], int], None],
    ) -> None:
        store = state.store
        self.is_sync = store.options.flush_mode is FlushMode.SYNC_FLUSH
        """Whether puts wait for the disk; later changes have no effect."""
        self.flushes_on_append = self.is_sync or store.log.pool is not None
        """Whether `on_append` has anything to do."""
        self.pending = GroupCommitQueue()
        self._timer = DeadlineTimer(
            remoting.timers, lambda: self.pending.deadline_ms, self.pending.expire
        )
        self._remoting = remoting
        self._store = store
        self._options = state.options
        self._state = state
        self._on_messages = on_messages
        self._under_way: list[FlushWork] = []
        self._refused = ""
        self._lasting: set[tuple[str, str]] = set()
        """Errors that were logged and have not ended."""
        self._suspect: set[MappedFileQueue] = set()
        """Queues whose pages the system may count as clean after a refused flush."""
        self._log_policy = FlushPolicy()
        self._queue_policy = FlushPolicy()
        self._commit_policy = FlushPolicy()

    def start(self, now_ms: int) -> None:
        """Start the timers."""
        options = self._options
        self._every(options.flush_interval_commit_log, self._flush_log_if_due, now_ms)
        self._every(
            options.flush_interval_consume_queue, self._flush_queues_if_due, now_ms
        )
        if self._store.log.pool is not None:
            self._commit_if_due(now_ms)  # the first commit is full, and finds nothing
            self._every(options.commit_interval_commit_log, self._commit_if_due, now_ms)

    def wait(self, end: int, *, now_ms: int, on_done: OnCommit) -> None:
        """Call *on_done* with True when the log is on disk up to *end*.

        The argument is False after syncFlushTimeout.
        """
        timeout_ms = self._options.sync_flush_timeout  # [STORE-DEFAULT-007]
        if timeout_ms <= 0:
            on_done(False)
            return
        deadline_ms = now_ms + timeout_ms
        self.pending.put(end, deadline_ms=deadline_ms, on_commit=on_done)
        self._timer.watch(deadline_ms, now_ms)

    def on_append(self) -> None:
        """Start the flush that new messages do not leave to the next period."""
        pool, options = self._store.log.pool, self._options
        if pool is not None and pool.is_due(options.commit_commit_log_least_pages):
            self._commit()  # [STORE-FLUSH-007]
        if self.is_sync:
            self._flush_log()

    def _flush_completed(self, work: FlushWork, refused: str, now_ms: int) -> None:
        """Record that files are on disk, or the error of the disk."""
        self._under_way.remove(work)
        if refused:
            self._log_error(refused)
            self._suspect.update(work.queues)
            self._write_again()
            if self.is_sync:
                self._remoting.timers.call_at(now_ms + RETRY_MS, self._flush_log_if_due)
            return
        try:
            work.on_done()
        except FilesError as error:  # the checkpoint's; the next flush writes it again
            self._log_error(str(error))
        else:
            self._refused = ""

    def _every(self, period_ms: int, job: Callable[[int], None], now_ms: int) -> None:
        self._remoting.timers.call_every(period_ms, job, first_ms=now_ms + period_ms)

    def _flush_log_if_due(self, now_ms: int) -> None:
        if self._is_under_way(_LOG):
            return
        pages = self._log_policy.least_pages(  # [STORE-DEFAULT-005]
            now_ms,
            configured=self._options.flush_commit_log_least_pages,
            full_flush_interval_ms=self._options.flush_commit_log_thorough_interval,
        )
        log = self._store.log
        if pages == 0 and log.files.flushed == log.files.end:
            # Flushes of full pages have left nothing: only the checkpoint is behind.
            self._store.on_commit_log_flushed(log.files.mark(), log.committed_until_ms)
        else:
            self._flush_log(pages)

    def _flush_log(self, least_pages: int = 0) -> None:
        log = self._store.log
        is_due = log.files.is_due(0 if self.is_sync else least_pages)
        if is_due and not self._is_under_way(_LOG):
            mark = log.files.mark()
            # Only a full flush may advance the checkpoint.
            checkpoint_ms = 0 if least_pages else log.committed_until_ms
            done = partial(self._log_flushed, mark, checkpoint_ms)
            self._emit(FlushWork(_LOG, (log.files,), done), mark.files)

    def _log_flushed(self, mark: FlushMark, checkpoint_ms: int) -> None:
        try:
            # [STORE-FLUSH-004]
            self._store.on_commit_log_flushed(mark, checkpoint_ms)
        finally:  # the messages are on disk, even if the checkpoint is not
            self.pending.commit(self._store.log.files.flushed)
        if self.is_sync:
            self._flush_log()

    def _flush_queues_if_due(self, now_ms: int) -> None:
        self._on_messages(self._store.catch_up(), now_ms)
        self._report(_NOT_STORED, self._store.refusal)
        self._report(_NOT_READABLE, self._store.dispatch_error)
        if self._is_under_way(_QUEUES):
            return
        least_pages = self._queue_policy.least_pages(  # [STORE-DEFAULT-006]
            now_ms,
            configured=self._options.flush_consume_queue_least_pages,
            full_flush_interval_ms=self._options.flush_consume_queue_thorough_interval,
        )
        all_files = [
            one for queue in self._store.queues for one in queue.mapped_file_queues
        ]
        marks = [(one, one.mark()) for one in all_files if one.is_due(least_pages)]
        files = tuple(file for _, mark in marks for file in mark.files)
        checkpoint_ms = None if least_pages else self._store.checkpoint.logics_ms
        if files or checkpoint_ms is not None:
            done = partial(self._queues_flushed, marks, checkpoint_ms)
            self._emit(FlushWork(_QUEUES, tuple(one for one, _ in marks), done), files)

    def _queues_flushed(
        self,
        marks: Sequence[tuple[MappedFileQueue, FlushMark]],
        checkpoint_ms: int | None,
    ) -> None:
        for one, mark in marks:
            one.on_flushed(mark)
        if checkpoint_ms is not None:
            # Units dispatched meanwhile are not on disk: the time is that of the marks.
            file = self._store.checkpoint.write(logics_ms=checkpoint_ms)
            self._emit(FlushWork(_CHECKPOINT, (), lambda: None), (file,))

    def _commit_if_due(self, now_ms: int) -> None:
        pool = self._store.log.pool
        pages = self._commit_policy.least_pages(  # [STORE-DEFAULT-008]
            now_ms,
            configured=self._options.commit_commit_log_least_pages,
            full_flush_interval_ms=self._options.commit_commit_log_thorough_interval,
        )
        if pool is not None and pool.is_due(pages):
            self._commit()

    def _commit(self) -> None:
        """Commit the pool's messages to the log, where readers find them."""
        self._store.commit_pool()
        self._state.has_appended = True

    def _report(self, lines: tuple[str, str], error: str) -> None:
        """Log the begin or the end of an error that lasts; *error* is empty without."""
        if error and lines not in self._lasting:
            self._lasting.add(lines)
            self._remoting.log_error(f"{lines[0]}: {error}")
        elif lines in self._lasting and not error:
            self._lasting.remove(lines)
            self._remoting.log_error(lines[1])

    def _log_error(self, refused: str) -> None:
        """Log an error of the disk, but not again with every attempt."""
        if refused != self._refused:
            self._refused = self._store.last_error = refused
            self._remoting.log_error(refused)

    def _is_under_way(self, kind: str) -> bool:
        return any(work.kind == kind for work in self._under_way)

    def _write_again(self) -> None:
        """Make the pages of refused flushes dirty again, as far as the disk allows."""
        try:
            for queue in list(self._suspect):
                queue.write_again()
                self._suspect.discard(queue)
        except FilesError as error:
            self._log_error(str(error))

    def _emit(self, work: FlushWork, files: tuple[MappedFile, ...]) -> None:
        """Have *files* flushed, unless the disk lets no page be dirty again."""
        self._write_again()
        if not self._suspect.isdisjoint(work.queues):
            return
        self._under_way.append(work)
        self._remoting.emit(Flush(files, partial(self._flush_completed, work)))
