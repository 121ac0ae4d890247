"""
Check the timer's files of a store, its checkpoint last.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding, places_in
from spark_checks.invariants.timer.timer_messages import (
    TopicQueue,
    check_messages,
    topic_queue,
)
from spark_checks.invariants.timer.timer_units import (
    TimerLog,
    check_chains,
    read_timer_log,
)
from spark_checks.invariants.timer.timer_wheel_slots import check_wheel
from spark_checks.store_files import Store, StoreFile, read_whole
from spec.store.timer.timer_log import TIMER_LOG, UNIT_SIZE
from spec.store.timer.timer_wheel import (
    CHECKPOINT_SIZE,
    TIMER_CHECKPOINT,
    decode_timer_checkpoint,
    timer_checkpoint_layout,
)

FILES_MAX = 4
"""Files of the timer log that are read, from the last one back; each has 100 MB."""
_CHECKPOINT_PLACES = places_in(timer_checkpoint_layout)


def check_timer(store: Store) -> Iterator[Finding]:
    """Yield the findings in the timer's files of *store*."""
    files = [file for file in store.under(TIMER_LOG) if file.base is not None]
    files = files[-FILES_MAX:]
    damaged: list[tuple[StoreFile, int, str]] = []
    log = read_timer_log(store, files, damaged)
    for file, offset, found in damaged[:LISTED_MAX]:
        place = file.path, (offset, UNIT_SIZE)
        yield file_finding("INV-TIMER-001", *place, found=found)
    if log is not None and not damaged:
        yield from check_chains(log)
        yield from check_wheel(store, log)
    queue = topic_queue(store)
    if log is not None and queue is not None:
        yield from check_messages(store, log, queue)
    yield from _check_progress(store, log, queue)


def _check_progress(
    store: Store, log: TimerLog | None, queue: TopicQueue | None
) -> Iterator[Finding]:
    """Yield the fields of the timer's checkpoint that are out of range."""
    path = f"config/{TIMER_CHECKPOINT}"
    file = store.file(path)
    if file is None or file.size < CHECKPOINT_SIZE:
        return
    data = read_whole(store.url, file, size_max=CHECKPOINT_SIZE)
    found = decode_timer_checkpoint(data)
    limits: dict[str, int | None] = {
        **dict.fromkeys(_CHECKPOINT_PLACES),
        "flushed_position": log.end if log is not None else None,
        "queue_offset": queue.end if queue is not None else None,
    }
    for name, limit in limits.items():
        value = getattr(found, name)
        if value >= 0 and (limit is None or value <= limit):
            continue
        expected = f"{name} of 0 to {'any number' if limit is None else limit}"
        place = path, _CHECKPOINT_PLACES[name]
        yield file_finding("INV-TIMER-005", *place, expected=expected, found=value)
