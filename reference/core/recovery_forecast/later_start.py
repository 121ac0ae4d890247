"""
The start after the forecast one and an orderly stop, where it has a worse result.

A start after a crash begins at the checkpoint's times, and passes over damage in
earlier files. A start after an orderly stop reads the last files whole, and ends the
log at that damage.
"""

from __future__ import annotations

from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.outcome import LaterStart
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.recovery.rules import RecoveryRules
from reference.core.store.recovery.scan import files_behind_end, first_file, scan_log
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import Checkpoint


def worse_later_start(
    view: StoreView,
    log: LogState,
    queues: QueuesState,
    options: StoreOptions,
    rules: RecoveryRules,
) -> LaterStart | None:
    """Return the later start, None where it keeps the end of the log."""
    deleted = files_behind_end(log.start_offsets, log.end)
    bases = [base for base in log.start_offsets if base not in deleted]
    if not bases:
        return None
    first = first_file(
        bases,
        log.open,
        Checkpoint(),
        options,
        rules,
        queue_end=queues.max_physical_offset,
        is_clean=True,
    )
    end = scan_log(
        bases,
        first,
        log.open,
        rules,
        check_crc=options.check_crc_on_recover,
        on_record=lambda _, record: view.count_read(record.size),
    ).physical_end
    lost = sum(queues.has(record) for _, record in log.records(end, log.end))
    if end >= log.end or not lost:
        return None
    return LaterStart(recovery_begins=bases[first], log_end=end, lost=lost)
