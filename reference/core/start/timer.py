"""
The files of timed messages at a start (since 5.0): wheel and log.

The wheel has one size in all releases. Both must have their size, or there is no start.
"""

from __future__ import annotations

from reference.core.start.outcome import Refusal
from reference.core.start.sizes import seen_size
from reference.core.start.view import StoreView
from reference.core.store.recovery_loading import loading, stray_says
from reference.core.store.recovery_rules import RecoveryRules
from spec.store.timer_log import TIMER_LOG
from spec.store.timer_wheel import TIMER_WHEEL, WHEEL_SIZE

_CLAUSE = "REC-START-011"


def timer_refusal(view: StoreView, rules: RecoveryRules) -> Refusal | None:
    """Return why the timer's files keep a broker from starting, None if they do not."""
    if view.exists(TIMER_WHEEL):
        size = len(view.data(TIMER_WHEEL))
        if size not in {0, WHEEL_SIZE}:
            says = f"{TIMER_WHEEL} has {size} bytes, not {WHEEL_SIZE}"
            return Refusal(_CLAUSE, TIMER_WHEEL, says)
    entries = view.entries(TIMER_LOG)
    size = seen_size([entries])
    stray = loading(entries, size, rules).stray
    if stray is None:
        return None
    path = f"{TIMER_LOG}/{stray.name}"
    return Refusal(_CLAUSE, path, stray_says(TIMER_LOG, stray, size))
