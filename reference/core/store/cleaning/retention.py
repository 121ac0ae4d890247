"""
Which files a store may give up: the decisions, as functions of plain values.

The commit log leads. Its oldest files go when they are old enough and it is time, or
when the disk fills; the last never goes. Queues and index have nothing to decide:
they lose the files that only point at what the log has lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FILES_AT_ONCE_MAX = 10
"""Files that go in one round (4.6.0 MappedFileQueue#DELETE_FILES_BATCH_MAX)."""
FIRST_ROUND_MS = 60_000
"""After a start, nothing goes for so long."""
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The settings of the cleaning; each names the key of broker.conf that sets it."""

    reserved_ms: int = 72 * HOUR_MS
    """fileReservedTime, there in hours."""
    hours: frozenset[int] = frozenset({4})
    """deleteWhen: hours of the day, in local time."""
    used_ratio_max: float = 0.75
    """diskMaxUsedSpaceRatio, there in per cent: fuller, old files go at any hour."""
    forcing_ratio: float = 0.85
    """rocketmq.broker.diskSpaceCleanForciblyRatio: fuller, young files go, too."""
    warning_ratio: float = 0.90
    """rocketmq.broker.diskSpaceWarningLevelRatio: fuller, nothing is taken."""
    may_force: bool = True
    """cleanFileForciblyEnable."""
    pause_ms: int = 100
    """deleteCommitLogFilesInterval: between two files of the log."""
    queue_pause_ms: int = 100
    """deleteConsumeQueueFilesInterval: after a queue that has lost files."""
    retry_ms: int = 120_000
    """redeleteHangedFileInterval: until a file that would not go is tried again."""
    zone_offset_ms: int = 0
    """Local time minus UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskVerdict:
    """What the fullness of the disk means."""

    is_full: bool
    """Messages are refused."""
    needs_space: bool
    """Old files go at any hour."""
    is_urgent: bool
    """Young files go like old ones."""


def evaluate_disk_usage(
    used: float, retention: Retention, *, was_full: bool
) -> DiskVerdict:
    """Return what it means that *used* of the disk is taken, less than 0 for unknown.

    4.6.0 DefaultMessageStore$CleanCommitLogService#isSpaceToDelete. Between the two
    upper ratios a disk that was full stays full.
    """
    is_urgent = used > retention.forcing_ratio or used > retention.warning_ratio
    return DiskVerdict(
        # [SEND-STATE-003] [SEND-STATE-016]
        is_full=used > retention.warning_ratio or (is_urgent and was_full),
        needs_space=used < 0 or used > retention.used_ratio_max,  # [STORE-CLEAN-003]
        is_urgent=is_urgent,
    )


def is_hour(now_ms: int, retention: Retention) -> bool:
    """Return whether this is an hour of deleteWhen."""
    return (now_ms + retention.zone_offset_ms) // HOUR_MS % 24 in retention.hours


def expired_count(
    modified_at_ms: Sequence[int],
    *,
    now_ms: int,
    verdict: DiskVerdict,
    retention: Retention,
) -> int:
    """Return how many files go now, of which the times say when each was changed.

    They go from the oldest on; the first that is too young keeps all behind it.
    """
    if not (is_hour(now_ms, retention) or verdict.needs_space):
        return 0
    is_forced = verdict.is_urgent and retention.may_force
    count = 0
    for changed_at_ms in modified_at_ms[:-1][:FILES_AT_ONCE_MAX]:  # [STORE-CLEAN-001]
        # [STORE-CLEAN-002]
        if not is_forced and now_ms < changed_at_ms + retention.reserved_ms:
            break
        count += 1
    return count


def hours_of(text: str) -> frozenset[int]:
    """Return the hours that a deleteWhen such as ``04;16`` names.

    What is no number ends the list; Java then does not clean at all.
    """
    hours = set()
    for part in text.split(";"):
        try:
            hours.add(int(part))
        except ValueError:
            break
    return frozenset(hours)
