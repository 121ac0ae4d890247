"""
The store as loaded before recovery: log, queues, checkpoint, index, timer.

The first file that the broker refuses ends the start.
"""

from __future__ import annotations

from reference.core.recovery_forecast.index_state import IndexFileError, IndexState
from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.outcome import Note, Outcome, Refusal
from reference.core.recovery_forecast.queues_state import (
    QueuesState,
    StrayQueueFileError,
)
from reference.core.recovery_forecast.store_view import StoreView, ViewError
from reference.core.recovery_forecast.timer_state import timer_refusal
from reference.core.store.recovery.load import (
    DirectoryEntry,
    describe_wrong_file,
    plan_load,
)
from reference.core.store.recovery.rules import RecoveryRules, WrongSizeFilePolicy
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import Checkpoint, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CHECKPOINT, COMMIT_LOG


class StartRefusedError(Exception):
    """The broker refuses to start."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class LoadedStore:
    """The files of a store that a start has loaded."""

    def __init__(
        self,
        view: StoreView,
        rules: RecoveryRules,
        options: StoreOptions,
        outcome: Outcome,
    ) -> None:
        self.log = LogState([], options.commit_log_file_size, self._open_log, rules)
        queue_size = -(-options.consume_queue_file_size // UNIT_SIZE) * UNIT_SIZE
        self.queues = QueuesState(view, queue_size, rules)
        self.index = IndexState(view, options.index_item_count, rules)
        self.checkpoint = Checkpoint()
        self._view = view
        self._rules = rules
        self._options = options
        self._outcome = outcome

    def load(self) -> None:
        """Load all files. Raise StartRefusedError at the first wrong one."""
        self._load_log()
        self._load_queues()
        self._load_checkpoint()
        self._load_index()

    def load_timer(self) -> None:
        """Load the files of timer messages, which follows recovery."""
        refusal = None
        if self._rules.has_timer:
            refusal = timer_refusal(self._view, self._rules)
        if refusal is not None:
            raise StartRefusedError(refusal)

    def _open_log(self, name: str) -> memoryview:
        return self._view.data(f"{COMMIT_LOG}/{name}")

    def _load_log(self) -> None:
        size = self._options.commit_log_file_size
        found = plan_load(self._view.entries(COMMIT_LOG), size, self._rules)
        self.log = LogState(found.names, size, self._open_log, self._rules)
        self._outcome.log.deleted_files += [f"{COMMIT_LOG}/{n}" for n in found.deleted]
        if found.wrong_file is not None:
            raise StartRefusedError(
                self._wrong_file(COMMIT_LOG, found.wrong_file, size)
            )
        if found.ignored:
            ignored = f"the files from {found.ignored[0]} on are ignored"
            self._outcome.notes.append(Note("REC-LOAD-006", f"commit log: {ignored}"))

    def _load_queues(self) -> None:
        try:
            self.queues.load()
        except StrayQueueFileError as error:
            size = self.queues.file_size
            refusal = self._wrong_file(error.directory, error.entry, size)
            raise StartRefusedError(refusal) from None

    def _wrong_file(
        self, directory: str, wrong_file: DirectoryEntry, size: int
    ) -> Refusal:
        clause = "REC-LOAD-001"
        if wrong_file.size == size:
            clause = "REC-LOAD-004"
        elif self._rules.wrong_size_file is WrongSizeFilePolicy.DELETE_EMPTY_LAST:
            clause = "REC-LOAD-002"
        reason = describe_wrong_file(directory, wrong_file, size)
        return Refusal(clause, f"{directory}/{wrong_file.name}", reason)

    def _load_checkpoint(self) -> None:
        if not self._view.exists(CHECKPOINT):
            text = "there is no checkpoint: its times are 0"
            self._outcome.notes.append(Note("REC-CHECKPOINT-003", text))
            return
        try:
            data = bytes(self._view.data(CHECKPOINT)[:64])
        except ViewError as error:
            refusal = Refusal("REC-CHECKPOINT-003", CHECKPOINT, str(error))
            raise StartRefusedError(refusal) from None
        self.checkpoint = decode_checkpoint(data.ljust(64, b"\0"))

    def _load_index(self) -> None:
        outcome, index_ms = self._outcome, self.checkpoint.index_ms
        try:
            self.index.load(after_crash=outcome.after_crash, index_ms=index_ms)
        except IndexFileError as error:
            if self._rules.needs_index_files:
                refusal = Refusal("REC-LOAD-007", error.path, str(error))
                raise StartRefusedError(refusal) from None
