"""
The files of timer messages at a start (since 5.0): wheel and log.

The wheel has one size in all releases. A wrong size of either file prevents the start.
"""

from __future__ import annotations

from reference.core.recovery_forecast.file_sizes import seen_size
from reference.core.recovery_forecast.outcome import Refusal
from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.recovery.load import describe_wrong_file, plan_load
from reference.core.store.recovery.rules import RecoveryRules
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL, WHEEL_SIZE

_CLAUSE = "REC-LOAD-008"


def timer_refusal(view: StoreView, rules: RecoveryRules) -> Refusal | None:
    """Return the reason why the timer's files prevent a start, or None."""
    if view.exists(TIMER_WHEEL):
        size = len(view.data(TIMER_WHEEL))
        if size not in {0, WHEEL_SIZE}:
            reason = f"{TIMER_WHEEL} has {size} bytes, not {WHEEL_SIZE}"
            return Refusal(_CLAUSE, TIMER_WHEEL, reason)
    entries = view.entries(TIMER_LOG)
    size = seen_size([entries])
    wrong_file = plan_load(entries, size, rules).wrong_file
    if wrong_file is None:
        return None
    path = f"{TIMER_LOG}/{wrong_file.name}"
    return Refusal(_CLAUSE, path, describe_wrong_file(TIMER_LOG, wrong_file, size))
