"""
The message store of a broker: commit log, consume queues and index.

It is a state machine without threads. An append writes only to the commit log. Dispatch
makes the messages visible to consumers. A flush brings them to disk. The state after a
restart depends only on the files. `StoreReads` has the reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from reference.core.store.cleaning import CleanService
from reference.core.store.commitlog.commit_log import CommitLog, NoFileError
from reference.core.store.config_files import ConfigFiles
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.delay.schedule_message import LogError, ScheduleMessageService
from reference.core.store.dispatcher import CalcBitMap, Dispatcher, empty_bit_map
from reference.core.store.flush import CheckpointFile, SlaveCheckpointFile
from reference.core.store.get_message import StoreReads
from reference.core.store.index.index_service import IndexService
from reference.core.store.mapped.files import Files, FilesError
from reference.core.store.mapped.mapped_file_queue import FlushMark
from reference.core.store.put_checks import check_message
from reference.core.store.recovery.recover import BulkScan, recover, resume_dispatch
from reference.core.store.statistics import Statistics
from reference.core.store.types import (
    DispatchRequest,
    NewMessage,
    PutResult,
    PutStatus,
    StoreOptions,
)
from spec.integers import INT32_MAX
from spec.store.file_names import ABORT

QUEUE_ATTEMPTS = 30
"""Failures of `catch_up`, one each second, after which no message is accepted."""
_NOT_AVAILABLE = PutResult(PutStatus.SERVICE_NOT_AVAILABLE)
_NO_FILE = PutResult(PutStatus.CREATE_FILE_FAILED)


class MessageStore(StoreReads):
    """A store in one directory, open until `stop`."""

    def __init__(
        self,
        files: Files,
        options: StoreOptions,
        now_ms: int,
        *,
        bulk_scan: BulkScan | None = None,
        calc_bit_map: CalcBitMap = empty_bit_map,
    ) -> None:
        """Load the directory, recover it, and dispatch what its queues lack.

        *calc_bit_map* is for the messages that recovery dispatches. Raises FilesError
        for a directory on which 4.6.0 does not start, and leaves it unlocked.
        """
        self.options = options
        self.config = ConfigFiles(files)
        self.last_error = ""
        """The last error of the files, in one line; empty without one."""
        self.append_error = ""
        """Error that keeps new messages from the log; empty without one."""
        self.dispatch_error = ""
        """Error that keeps stored messages from their queues; empty without one."""
        self.statistics = Statistics()
        self._files = files
        self._is_queue_stuck = False
        """Whether writes to a consume queue failed too often consecutively."""
        self._queue_failures = 0
        self._is_running = True
        self._undispatched: list[DispatchRequest] = []
        """Requests of the records that were appended since the last dispatch."""
        levels, size_max = DelayLevels(options.delay_levels), options.max_message_size
        self._check = partial(check_message, levels=levels, size_max=size_max)
        log = self.log = CommitLog(files, options, levels)
        queues = self.queues = ConsumeQueueTable(
            files, options.consume_queue_file_size, options.extension_file_size
        )
        index = self.index = IndexService(files, options, started_at_ms=now_ms)
        self.schedule_service = ScheduleMessageService(log, queues, levels, self.config)
        self.clean_service = CleanService(files, log, queues, index)
        files.lock()
        try:
            is_clean = self._files.size(ABORT) is None
            self.checkpoint = self._load_before_index()
            self.index.load(is_clean=is_clean, checkpoint=self.checkpoint)
            self.dispatcher = Dispatcher(
                log, queues, index, self.checkpoint, options, calc_bit_map=calc_bit_map
            )
            recover(self, is_clean=is_clean, bulk_scan=bulk_scan)
            resume_dispatch(self)
            self._files.replace_text(ABORT, "")  # [STORE-NAME-005]
        except FilesError:
            files.unlock()
            raise

    def stop(self) -> None:
        """Flush everything and delete the file ``abort``.

        After a failure the file stays, so that the next start recovers.
        """
        if not self._is_running:
            return
        self._is_running = False
        try:
            self.log.commit()
            self.dispatch()
            self.flush_log()
            self.flush_queues()
            self.index.flush()
            self.schedule_service.persist()
            is_behind = self.dispatcher.is_behind
            if not is_behind and not self.clean_service.is_disk_full:
                # [STORE-CLEAN-016]
                self._files.delete(ABORT)
        except FilesError as error:
            self.last_error = str(error)
        self._close()

    def append(
        self, messages: Sequence[NewMessage], now_ms: int, *, is_checked: bool = False
    ) -> list[PutResult]:
        """Append messages in order and return one put result for each.

        Consumers receive them after the next `dispatch`. Messages that fit into one
        file are one write. A refused message does not stop the messages behind it.
        *is_checked* skips the checks, for a delayed message that is delivered. With its
        real topic the record may be above maxMessageSize. 4.6.0 then tries for ever.
        4.6.0 DefaultMessageStore#putMessage and #putMessages.
        """
        is_refusing = self._is_queue_stuck or self.clean_service.is_disk_full
        if is_refusing or not self._is_running:
            return [_NOT_AVAILABLE] * len(messages)
        results: list[PutResult] = []
        while len(results) < len(messages):
            rest = messages[len(results) :] if results else messages
            try:
                records = self.log.append(
                    rest,
                    now_ms,
                    None if is_checked else self._check,
                    size_max=INT32_MAX if is_checked else None,
                )
            except FilesError as error:
                self.last_error = self.append_error = str(error)
                has_file = not isinstance(error, NoFileError)
                # [SEND-STATE-007]
                results.append(_NOT_AVAILABLE if has_file else _NO_FILE)
            else:
                self.append_error = ""
                results += records.results
                if self.log.pool is None:
                    self._undispatched += records.requests
        self.statistics.on_append(results)
        return results

    @property
    def refusal(self) -> str:
        """The reason why new messages are not stored; empty if they are."""
        if self.clean_service.is_disk_full:
            return "the disk is too full (diskSpaceWarningLevelRatio)"
        if self._is_queue_stuck:
            return f"a consume queue cannot be written: {self.dispatch_error}"
        return self.append_error

    @property
    def is_overloaded(self) -> bool:
        """Whether requests of producers are rejected unread."""
        pool = self.log.pool
        return pool is not None and pool.free == 0  # [SEND-STATE-014]

    def dispatch(self) -> list[DispatchRequest]:
        """Dispatch the log up to its end to queues and index.

        Return the requests of the messages that became visible, by queue.
        """
        requests, self._undispatched = self._undispatched, []
        visible: list[DispatchRequest] = []
        try:
            self.dispatcher.dispatch(requests, visible)
        except FilesError as error:
            self.last_error = self.dispatch_error = str(error)
        else:
            self.dispatch_error = ""
        return visible

    def commit_pool(self) -> None:
        """Commit the messages of the transient store pool to the log."""
        try:
            self.log.commit()
        except FilesError as error:
            self.last_error = str(error)

    def catch_up(self) -> list[DispatchRequest]:
        """Dispatch again, once a second, after a failure of a file."""
        arrivals = self.dispatch() if self.dispatcher.is_behind else []
        if not self.dispatcher.is_behind:
            self._queue_failures = 0
        elif not self.dispatcher.is_indexing:
            # A failing index file does not stop producers. [STORE-DISPATCH-003]
            self._queue_failures += 1
            # [SEND-STATE-004]
            self._is_queue_stuck |= self._queue_failures >= QUEUE_ATTEMPTS
        return arrivals

    def deliver_delayed_messages(
        self, now_ms: int, log_error: LogError = lambda _: None
    ) -> list[PutResult]:
        """Put the delayed messages whose time has come under their own topics."""
        return self.schedule_service.deliver(
            now_ms,
            lambda message: self.append([message], now_ms, is_checked=True)[0],
            log_error,
        )

    def disk_space(self) -> tuple[int, int]:
        """Return total and free bytes of the store's disk."""
        return self._files.disk_space()

    def on_commit_log_flushed(self, mark: FlushMark, stored_at_ms: int) -> None:
        """Record that *mark* is on disk; its last message has the store time given."""
        self.log.files.on_flushed(mark)
        if stored_at_ms > 0:
            self.checkpoint.physic_ms = stored_at_ms

    def flush_log(self) -> None:
        """Block until every appended message is on disk."""
        stored_at_ms, mark = self.log.committed_until_ms, self.log.files.mark()
        for file in mark.files:
            file.flush()
        self.on_commit_log_flushed(mark, stored_at_ms)

    def flush_queues(self) -> None:
        """Block until every consume-queue unit and the checkpoint are on disk."""
        logics_ms = self.checkpoint.logics_ms
        for queue in self.queues:
            for one in queue.mapped_file_queues:
                one.flush()
        self.checkpoint.flush(logics_ms=logics_ms)

    def _load_before_index(self) -> CheckpointFile:
        """Load everything but the index, and return the checkpoint that it needs."""
        self.schedule_service.load()
        self.log.files.load()
        self.queues.load()
        checkpoint = SlaveCheckpointFile if self.options.is_slave else CheckpointFile
        return checkpoint(self._files)

    def _close(self) -> None:
        for queue in self.queues:
            for one in queue.mapped_file_queues:
                one.close()
        self.log.files.close()
        self.index.close()
        self.checkpoint.close()
        self._files.unlock()
