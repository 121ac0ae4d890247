"""
What a start has taken up before recovery begins: log, queues, checkpoint, index, timer.

The first file that the broker cannot do with ends the start.
"""

from __future__ import annotations

from reference.core.start.index_state import IndexFileError, IndexState
from reference.core.start.log_state import LogState
from reference.core.start.outcome import Note, Outcome, Refusal
from reference.core.start.queues_state import QueuesState, StrayQueueFileError
from reference.core.start.timer import timer_refusal
from reference.core.start.view import StoreView, ViewError
from reference.core.store.api import StoreOptions
from reference.core.store.recovery_loading import Entry, loading, stray_says
from reference.core.store.recovery_rules import RecoveryRules, Stray
from spec.store.checkpoint import Checkpoint, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CHECKPOINT, COMMIT_LOG


class RefusedError(Exception):
    """The start ends here."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.says)
        self.refusal = refusal


class Loaded:
    """The files of a store, as far as a start has taken them up."""

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
        """Take up all files; RefusedError at the first that is wrong."""
        self._load_log()
        self._load_queues()
        self._load_checkpoint()
        self._load_index()

    def load_timer(self) -> None:
        """Take up the files of timed messages, which comes after recovery."""
        refusal = None
        if self._rules.has_timer:
            refusal = timer_refusal(self._view, self._rules)
        if refusal is not None:
            raise RefusedError(refusal)

    def _open_log(self, name: str) -> memoryview:
        return self._view.data(f"{COMMIT_LOG}/{name}")

    def _load_log(self) -> None:
        size = self._options.commit_log_file_size
        found = loading(self._view.entries(COMMIT_LOG), size, self._rules)
        self.log = LogState(found.names, size, self._open_log, self._rules)
        self._outcome.log.deleted_files += [f"{COMMIT_LOG}/{n}" for n in found.deleted]
        if found.stray is not None:
            raise RefusedError(self._stray(COMMIT_LOG, found.stray, size))
        if found.ignored:
            says = f"the files from {found.ignored[0]} on are not looked at"
            self._outcome.notes.append(Note("REC-START-004", f"commit log: {says}"))

    def _load_queues(self) -> None:
        try:
            self.queues.load()
        except StrayQueueFileError as error:
            size = self.queues.file_size
            refusal = self._stray(error.directory, error.entry, size)
            raise RefusedError(refusal) from None

    def _stray(self, directory: str, stray: Entry, size: int) -> Refusal:
        clause = "REC-BEGIN-004"
        if stray.size == size:
            clause = "REC-BEGIN-008"
        elif self._rules.stray is Stray.EMPTY_LAST_GOES:
            clause = "REC-BEGIN-005"
        says = stray_says(directory, stray, size)
        return Refusal(clause, f"{directory}/{stray.name}", says)

    def _load_checkpoint(self) -> None:
        if not self._view.exists(CHECKPOINT):
            says = "there is no checkpoint: its times are 0"
            self._outcome.notes.append(Note("REC-CHECKPOINT-003", says))
            return
        try:
            data = bytes(self._view.data(CHECKPOINT)[:64])
        except ViewError as error:
            refusal = Refusal("REC-CHECKPOINT-003", CHECKPOINT, str(error))
            raise RefusedError(refusal) from None
        self.checkpoint = decode_checkpoint(data.ljust(64, b"\0"))

    def _load_index(self) -> None:
        outcome, index_ms = self._outcome, self.checkpoint.index_ms
        try:
            self.index.load(after_crash=outcome.after_crash, index_ms=index_ms)
        except IndexFileError as error:
            if self._rules.needs_index_files:
                refusal = Refusal("REC-START-009", error.path, str(error))
                raise RefusedError(refusal) from None
