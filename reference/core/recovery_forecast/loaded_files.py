"""
Files that a start reads besides log, queues and index: checkpoint and timer.
"""

from __future__ import annotations

from reference.core.recovery_forecast.file_sizes import seen_size
from reference.core.recovery_forecast.outcome import Outcome
from reference.core.recovery_forecast.refusal import StartRefusedError
from reference.core.recovery_forecast.store_view import StoreView, ViewError
from reference.core.store.recovery.load import describe_wrong_file, plan_load
from reference.core.store.recovery.rules import RecoveryRules
from spec.store.checkpoint import FILE_SIZE, Checkpoint, decode_checkpoint
from spec.store.file_names import CHECKPOINT
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL, WHEEL_SIZE


def load_checkpoint(view: StoreView, outcome: Outcome) -> Checkpoint:
    """Return the times of the checkpoint; raise StartRefusedError if it is no file."""
    if not view.exists(CHECKPOINT):
        outcome.note("REC-CHECKPOINT-003", "there is no checkpoint: its times are 0")
        return Checkpoint()
    try:
        data = bytes(view.data(CHECKPOINT)[:FILE_SIZE])
    except ViewError as error:
        clause = "REC-CHECKPOINT-003"
        raise StartRefusedError(clause, CHECKPOINT, str(error)) from None
    return decode_checkpoint(data.ljust(FILE_SIZE, b"\0"))


def load_timer(view: StoreView, rules: RecoveryRules) -> None:
    """Load the files of timer messages (since 5.0), which follows recovery.

    The wheel has one size in all releases. Raise StartRefusedError for a wrong size of
    either file.
    """
    if not rules.has_timer:
        return
    if view.exists(TIMER_WHEEL):
        size = len(view.data(TIMER_WHEEL))
        if size not in {0, WHEEL_SIZE}:
            reason = f"{TIMER_WHEEL} has {size} bytes, not {WHEEL_SIZE}"
            raise StartRefusedError("REC-LOAD-008", TIMER_WHEEL, reason)
    entries = view.entries(TIMER_LOG)
    size = seen_size([entries])
    wrong_file = plan_load(entries, size, rules).wrong_file
    if wrong_file is not None:
        path = f"{TIMER_LOG}/{wrong_file.name}"
        reason = describe_wrong_file(TIMER_LOG, wrong_file, size)
        raise StartRefusedError("REC-LOAD-008", path, reason)
