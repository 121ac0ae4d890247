"""Invariants of the checkpoint, beside the log and the other files."""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.config_files import CONSUMED, config_file
from spark_checks.findings import Finding, Severity
from spark_checks.invariants.file_findings import file_finding, places_in
from spark_checks.invariants.index.index_headers import used_index_headers
from spark_checks.readers.index import capacity_of
from spark_checks.store_files import Store, read_whole, stored_at_ms
from spark_checks.survey.summary import SurveySummary
from spec.store import checkpoint
from spec.store.checkpoint import Checkpoint, decode_checkpoint

_PULL_OFFSETS = "pullOffsetTable"
"""Member of consumerOffset.json that brokers write since 5.5 (STORE-CONFIG-018)."""
FLUSH_MS_MAX = 300_000
"""Longest flush of all queues, in milliseconds, during which the time stays behind."""
UNFLUSHED_MS_MAX = 3_600_000
"""Longest time, in milliseconds, that a log may grow without any full flush."""
_PLACES = places_in(checkpoint.checkpoint_layout)


def check_checkpoint(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the checkpoint of *store*.

    A start maps one page, and the system pads a shorter file with zeros (4.6.0
    StoreCheckpoint#StoreCheckpoint).
    """
    file = store.file("checkpoint")
    if file is None or file.size != checkpoint.FILE_SIZE:
        size = 0 if file is None else file.size
        if file is not None or summary.record_count:
            is_cut = file is not None and size < checkpoint.checkpoint_layout.sizeof()
            severity = Severity.ERROR if is_cut else Severity.WARNING
            found = "no file" if file is None else f"{size} bytes"
            place = "checkpoint", (0, size)
            yield file_finding("INV-CHECK-001", *place, severity, found=found)
    if file is None or file.size < checkpoint.checkpoint_layout.sizeof():
        return
    data = read_whole(store.url, file, size_max=checkpoint.FILE_SIZE)
    values = decode_checkpoint(data)
    ahead = dict(_ahead_of_log(values, summary))
    expected = {**dict(_behind_files(values, store, summary)), **ahead}
    for name in filter(expected.get, _PLACES):
        invariant = "INV-CHECK-002" if name in ahead else "INV-CHECK-003"
        texts = {"expected": expected[name], "found": f"{name} {getattr(values, name)}"}
        yield file_finding(invariant, "checkpoint", _PLACES[name], **texts)


def _ahead_of_log(
    found: Checkpoint, summary: SurveySummary
) -> Iterator[tuple[str, str]]:
    """Yield the fields of a checkpoint that are ahead, and the expectations."""
    last_ms = summary.last_stored_at_ms
    for name in ("physic_ms", "logics_ms", "index_ms"):
        time_ms = getattr(found, name)
        if time_ms < 0 and last_ms is None:
            yield name, f"{name} at least 0"
        elif last_ms is not None and not 0 <= time_ms <= last_ms:
            yield name, f"{name} at most {last_ms}, when the last record was stored"
    for name in ("confirmed_offset", "queues_offset"):
        if summary.record_count and getattr(found, name) > summary.log_end:
            yield name, f"an offset of at most {summary.log_end}"


def _behind_files(
    found: Checkpoint, store: Store, summary: SurveySummary
) -> Iterator[tuple[str, str]]:
    """Yield the times of a closed store's checkpoint that are behind its files.

    A broker writes the checkpoint when it stops. The time of the units is that of the
    last one, unless a flush of the queues restored an earlier time (Java:
    FlushConsumeQueueService#doFlush). From 5.5 on only a full flush sets it, every 60
    seconds and not at a stop. The time of the log is set only by a full flush, every 10
    seconds. The time of the index is the end time of a full file. Each is flushed when
    the next one is created, by a thread of its own, in any order (5.3.3
    IndexService#getAndCreateLastIndexFile).
    """
    last_ms = summary.last_stored_at_ms
    is_part = store.parts is not None or store.begin > 0
    if store.was_left_open or is_part or last_ms is None or summary.damaged:
        return  # a damaged record may have a wrong time
    is_behind = found.logics_ms < last_ms - FLUSH_MS_MAX
    consumed = [config_file(store, path) for path in CONSUMED]
    follows_5_5 = any(_PULL_OFFSETS in file.members for file in consumed)
    is_before_5_5 = not follows_5_5 and any(file.has_table for file in consumed)
    if summary.units and is_behind and is_before_5_5:
        yield "logics_ms", f"about {last_ms}, when the last record was stored"
    first_ms = stored_at_ms(store, store.min_offset)
    is_long = first_ms is not None and last_ms - first_ms > UNFLUSHED_MS_MAX
    if not found.physic_ms and is_long:
        yield "physic_ms", "the time of a flush"
    full_ms = [
        header.end_stored_at_ms
        if header.index_count == capacity_of(file.size)
        else None
        for file, header in used_index_headers(store)
    ]
    flushed_ms = [ms for ms in full_ms[:-1] if ms is not None]
    if flushed_ms and found.index_ms not in full_ms:
        yield "index_ms", f"{flushed_ms[-1]}, the end time of a full index file"
