"""
Parts of a commit log that a query selects, by file name, offset and store time.

Reading may begin at any certain record and then yields the same rows as from the file's
begin. A range of offsets therefore costs one search for such a record. Store times rise
with offsets unless the broker's clock was put back. A file does not contain by how
much, so the caller must pass the slack.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_checks.columns.record_scan import (
    WINDOW_SIZE,
    FileRange,
    find_record,
    first_store_time_of,
)
from spark_checks.readers.pushdown import ColumnBounds, Conditions
from spark_checks.store_files import reading

LogFile = tuple[str, int, int]
"""Path, start offset in the name, size."""
Parts = Sequence[tuple[int, int]]
"""Begin and end of ranges of a log, as commit-log offsets."""


def selected_files(files: Sequence[LogFile], conditions: Conditions) -> list[LogFile]:
    """Return the *files* that may contain selected offsets."""
    return [
        (path, base, size)
        for path, base, size in files
        if conditions.of("file_base").may_overlap(base, base)
        and conditions.of("offset").may_overlap(base, base + size - 1)
    ]


def selected_part(url: str, file: LogFile, conditions: Conditions) -> range:
    """Return the positions in *file* of the store *url* to read."""
    path, base, size = file
    bounds = conditions.of("offset")
    at, stop = bounds.least - base, min(bounds.most - base + 1, size)
    if at <= 0:
        return range(stop)
    where = FileRange(base=base, file_size=size, start=0, end=size)
    with reading(url, path) as read_at:
        first = find_record(read_at, where, start=max(at - WINDOW_SIZE, 0), end=at + 1)
    return range(max(first, 0), stop)


def parts_within(whole: range, base: int, parts: Parts | None) -> list[range]:
    """Return the positions of *whole*, in the file at *base*, that lie in *parts*."""
    if parts is None:
        return [whole]
    cut = [
        range(max(begin - base, whole.start), min(end - base, whole.stop))
        for begin, end in parts
    ]
    return [part for part in cut if part]


def first_store_time(url: str, file: LogFile) -> int | None:
    """Return the store time of the first record of *file*; None if unknown."""
    path, base, size = file
    where = FileRange(base=base, file_size=size, start=0, end=size)
    with reading(url, path) as read_at:
        return first_store_time_of(read_at, where)


def stored_within(
    files: Sequence[LogFile],
    begun: Sequence[int | None],
    times: ColumnBounds,
    slack_ms: int,
) -> list[LogFile]:
    """Return the *files*, in order, that may have records within *times*."""
    least, most = times.least - slack_ms, times.most + slack_ms
    ended = [*begun[1:], None]
    return [
        file
        for file, first_ms, next_ms in zip(files, begun, ended, strict=True)
        if (first_ms is None or first_ms <= most)
        and (next_ms is None or next_ms >= least)
    ]
