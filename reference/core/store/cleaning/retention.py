"""
Retention: selects the files that a store deletes, as functions of plain values.

The oldest files of the commit log expire by age at the hours of deleteWhen, or when the
disk fills. The last file never expires. Consume queues and index have no retention of
their own: they lose the files that point only at deleted files of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DELETE_FILES_MAX = 10
"""Files that one round deletes (4.6.0 MappedFileQueue#DELETE_FILES_BATCH_MAX)."""
FIRST_ROUND_MS = 60_000
"""Time from the broker's start to its first round."""
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The settings of the cleaning; each names the key of broker.conf that sets it."""

    reserved_ms: int = 72 * HOUR_MS
    """fileReservedTime, there in hours."""
    hours: frozenset[int] = frozenset({4})
    """deleteWhen: hours of the day, in local time."""
    used_ratio_max: float = 0.75
    """diskMaxUsedSpaceRatio, there in per cent: above it, expired files go any hour."""
    forcing_ratio: float = 0.85
    """rocketmq.broker.diskSpaceCleanForciblyRatio: above it, age does not count."""
    warning_ratio: float = 0.90
    """rocketmq.broker.diskSpaceWarningLevelRatio: above it, messages are refused."""
    may_force: bool = True
    """cleanFileForciblyEnable."""
    pause_ms: int = 100
    """deleteCommitLogFilesInterval: between two files of the log."""
    queue_pause_ms: int = 100
    """deleteConsumeQueueFilesInterval: after a queue that has lost files."""
    retry_ms: int = 120_000
    """redeleteHangedFileInterval: between attempts to delete a file."""
    zone_offset_ms: int = 0
    """Local time minus UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUsage:
    """The consequences of a used ratio of the disk."""

    is_full: bool
    """Messages are refused."""
    needs_space: bool
    """Files expire by age at any hour."""
    is_urgent: bool
    """Files expire at any age."""


def rate_disk_usage(
    used_ratio: float, retention: Retention, *, was_full: bool
) -> DiskUsage:
    """Return the consequences of a used ratio from 0 to 1; below 0 it is unknown.

    4.6.0 DefaultMessageStore$CleanCommitLogService#isSpaceToDelete. Between the two
    upper ratios a disk that was full stays full.
    """
    is_warning = used_ratio > retention.warning_ratio
    is_urgent = is_warning or used_ratio > retention.forcing_ratio
    return DiskUsage(
        # [SEND-STATE-003] [SEND-STATE-016]
        is_full=is_warning or (is_urgent and was_full),
        # [STORE-CLEAN-003]
        needs_space=used_ratio < 0 or used_ratio > retention.used_ratio_max,
        is_urgent=is_urgent,
    )


def is_time_to_delete(now_ms: int, retention: Retention) -> bool:
    """Return whether *now_ms* is in an hour of deleteWhen."""
    return (now_ms + retention.zone_offset_ms) // HOUR_MS % 24 in retention.hours


def expired_count(
    modified_at_ms: Sequence[int],
    *,
    now_ms: int,
    usage: DiskUsage,
    retention: Retention,
) -> int:
    """Return the number of files to delete, given each file's time of its last write.

    They are the oldest ones. The first file that has not expired keeps all behind it.
    """
    if not (usage.needs_space or is_time_to_delete(now_ms, retention)):
        return 0
    is_forced = usage.is_urgent and retention.may_force
    count = 0
    for changed_at_ms in modified_at_ms[:-1][:DELETE_FILES_MAX]:  # [STORE-CLEAN-001]
        # [STORE-CLEAN-002]
        if not is_forced and now_ms < changed_at_ms + retention.reserved_ms:
            break
        count += 1
    return count


def parse_hours(text: str) -> frozenset[int]:
    """Return the hours of a deleteWhen such as ``04;16``.

    A part that is not a number ends the list. Java then does not clean.
    """
    hours = set()
    for part in text.split(";"):
        try:
            hours.add(int(part))
        except ValueError:
            break
    return frozenset(hours)
