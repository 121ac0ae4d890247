"""
Parts of a commit log that a query selects, by file name, offset and store time.

Reading may begin at any certain record and then yields the same rows as from the file's
begin. A range of offsets therefore costs one search for such a record. Store times rise
with offsets unless the broker's clock was put back. A file does not contain by how
much, so the caller must pass the slack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from columns.scan.log_file import WINDOW_SIZE, LogRange, find_record, store_time_at
from columns.scan.log_ranges import Ranges
from spark_checks.file_systems import ranges_with_data, reading
from spark_checks.readers.pushdown import Conditions
from spark_checks.store_files import StoreFile


def selected_files(
    files: Iterable[StoreFile], conditions: Conditions
) -> list[LogRange]:
    """Return the whole *files* that may contain selected offsets."""
    ranges = (file.whole for file in files)
    return [
        one
        for one in ranges
        if conditions.may_overlap("file_base", one.base, one.base)
        and conditions.may_overlap("offset", one.base, one.base + one.end - 1)
    ]


def selected_part(url: str, file: LogRange, conditions: Conditions) -> LogRange:
    """Return the range of *file* of the store *url* to read, without holes behind it.

    A file of 1 TB may have a few records and no other byte on the disk.
    """
    least, most = conditions.bounds("offset")
    ranges = ranges_with_data(url, file.path, file.file_size)
    written = ranges[-1].stop if ranges else 0
    file = replace(file, written=written, end=max(written, 1))
    at, end = least - file.base, min(most - file.base + 1, file.end)
    if at <= 0:
        return replace(file, end=end)
    with reading(url, file.path) as read_at:
        first = find_record(read_at, file, start=max(at - WINDOW_SIZE, 0), end=at + 1)
    return replace(file, start=max(first, 0), end=end)


def audited_ranges(file: LogRange, parts: Ranges | None) -> Iterator[LogRange]:
    """Yield the ranges of *file* that lie in *parts*; all of it without *parts*."""
    if parts is None:
        yield file
        return
    for begin, end in parts:
        if begin < file.base + file.end and end > file.base + file.start:
            start = max(begin - file.base, file.start)
            yield replace(file, start=start, end=min(end - file.base, file.end))


def part_before(part: LogRange, cut_at: int | None) -> Iterator[LogRange]:
    """Yield the bytes of *part* before the commit-log offset *cut_at*, if any."""
    if cut_at is None or cut_at >= part.base + part.file_size:
        yield part
    elif part.base + part.start < cut_at:
        position = cut_at - part.base
        yield replace(part, end=min(part.end, position), cut_at=position)


def first_store_time(url: str, file: LogRange) -> int | None:
    """Return the store time of the first record of *file*; None if unknown."""
    with reading(url, file.path) as read_at:
        return store_time_at(read_at, file, 0)


def stored_within(
    files: Sequence[LogRange],
    begun: Sequence[int | None],
    times: tuple[int, int],
    slack_ms: int,
) -> list[LogRange]:
    """Return the *files*, in order, that may have records within *times*."""
    least, most = times[0] - slack_ms, times[1] + slack_ms
    ended = [*begun[1:], None]
    return [
        file
        for file, first_ms, next_ms in zip(files, begun, ended, strict=True)
        if (first_ms is None or first_ms <= most)
        and (next_ms is None or next_ms >= least)
    ]
