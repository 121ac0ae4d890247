"""
The store as loaded before recovery: log, queues, checkpoint, index, timer.
"""

from __future__ import annotations

from reference.core.recovery_forecast.file_sizes import seen_size
from reference.core.recovery_forecast.index_state import IndexState
from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.outcome import Note, Outcome
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.refusal import (
    StartRefusedError,
    refuse_wrong_file,
)
from reference.core.recovery_forecast.store_view import StoreView, ViewError
from reference.core.store.recovery.load import describe_wrong_file, plan_load
from reference.core.store.recovery.rules import RecoveryRules
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import FILE_SIZE, Checkpoint, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CHECKPOINT, COMMIT_LOG
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL, WHEEL_SIZE


class LoadedStore:
    """The files of a store that a start has loaded."""

    def __init__(
        self,
        view: StoreView,
        rules: RecoveryRules,
        options: StoreOptions,
        outcome: Outcome,
    ) -> None:
        self.log = LogState(view, [], options.commit_log_file_size, rules)
        queue_size = -(-options.consume_queue_file_size // UNIT_SIZE) * UNIT_SIZE
        self.queues = QueuesState(view, queue_size, rules)
        self.index = IndexState(view, options.index_item_count, rules)
        self.checkpoint = Checkpoint()
        self._view = view
        self._rules = rules
        self._outcome = outcome

    def load(self) -> None:
        """Load all files. Raise StartRefusedError at the first wrong one."""
        self._load_log()
        self.queues.load()
        self._load_checkpoint()
        self.index.load(
            after_crash=self._outcome.after_crash, index_ms=self.checkpoint.index_ms
        )

    def load_timer(self) -> None:
        """Load the files of timer messages (since 5.0), which follows recovery.

        The wheel has one size in all releases. Raise StartRefusedError for a wrong size
        of either file.
        """
        if not self._rules.has_timer:
            return
        if self._view.exists(TIMER_WHEEL):
            size = len(self._view.data(TIMER_WHEEL))
            if size not in {0, WHEEL_SIZE}:
                reason = f"{TIMER_WHEEL} has {size} bytes, not {WHEEL_SIZE}"
                raise StartRefusedError("REC-LOAD-008", TIMER_WHEEL, reason)
        entries = self._view.entries(TIMER_LOG)
        size = seen_size([entries])
        wrong_file = plan_load(entries, size, self._rules).wrong_file
        if wrong_file is not None:
            path = f"{TIMER_LOG}/{wrong_file.name}"
            reason = describe_wrong_file(TIMER_LOG, wrong_file, size)
            raise StartRefusedError("REC-LOAD-008", path, reason)

    def _load_log(self) -> None:
        size, outcome = self.log.file_size, self._outcome
        found = plan_load(self._view.entries(COMMIT_LOG), size, self._rules)
        self.log = LogState(self._view, found.names, size, self._rules)
        outcome.log.deleted_files += [f"{COMMIT_LOG}/{n}" for n in found.deleted]
        refuse_wrong_file(found, COMMIT_LOG, size, self._rules)
        if found.ignored:
            ignored = f"the files from {found.ignored[0]} on are ignored"
            outcome.notes.append(Note("REC-LOAD-006", f"commit log: {ignored}"))

    def _load_checkpoint(self) -> None:
        if not self._view.exists(CHECKPOINT):
            text = "there is no checkpoint: its times are 0"
            self._outcome.notes.append(Note("REC-CHECKPOINT-003", text))
            return
        try:
            data = bytes(self._view.data(CHECKPOINT)[:FILE_SIZE])
        except ViewError as error:
            raise StartRefusedError(
                "REC-CHECKPOINT-003", CHECKPOINT, str(error)
            ) from None
        self.checkpoint = decode_checkpoint(data.ljust(FILE_SIZE, b"\0"))
