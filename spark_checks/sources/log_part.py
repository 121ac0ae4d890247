"""
Which part of a commit log a query can be about.

A file's name says which offsets it has. Within a file any record that is surely one is
as good a place to begin as the first: a reader that begins there finds the same rows
from there on. So a range of offsets costs one look for such a place before it. Times
of storing rise with offsets as far as the broker's clock never went back, which a file
does not say: only who knows by how much it may have gone can have files left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_checks.sources.pushed import Conditions, Wanted
from spark_checks.sources.record_scan import (
    WINDOW_SIZE,
    FileRange,
    begun_at,
    find_record,
)
from spark_checks.sources.store_files import reading

LogFile = tuple[str, int, int]
"""Path, offset that the name states, size."""
Parts = Sequence[tuple[int, int]]
"""Commit-log offsets at which ranges of a log begin, and behind them."""


def wanted_files(files: Sequence[LogFile], wanted: Conditions) -> list[LogFile]:
    """Return the *files* that may have rows with a wanted place."""
    return [
        (path, base, size)
        for path, base, size in files
        if wanted.of("file_base").may_lie(base, base)
        and wanted.of("offset").may_lie(base, base + size - 1)
    ]


def wanted_part(url: str, file: LogFile, wanted: Conditions) -> range:
    """Return the positions in *file* of the store *url* that have to be read."""
    path, base, size = file
    least, most = wanted.of("offset").least, wanted.of("offset").most
    stop = size if most is None else min(most - base + 1, size)
    if least is None or least <= base:
        return range(stop)
    at = least - base
    where = FileRange(base=base, file_size=size, start=0, end=size)
    with reading(url, path) as read_at:
        first = find_record(read_at, where, start=max(at - WINDOW_SIZE, 0), end=at + 1)
    return range(max(first, 0), stop)


def parts_within(whole: range, base: int, parts: Parts | None) -> list[range]:
    """Return which positions of *whole*, in the file at *base*, lie in *parts*."""
    if parts is None:
        return [whole]
    cut = [
        range(max(begin - base, whole.start), min(end - base, whole.stop))
        for begin, end in parts
    ]
    return [part for part in cut if part]


def begun_of(url: str, file: LogFile) -> int | None:
    """Return when the first record of *file* was stored, if that can be said."""
    path, base, size = file
    where = FileRange(base=base, file_size=size, start=0, end=size)
    with reading(url, path) as read_at:
        return begun_at(read_at, where)


def stored_within(
    files: Sequence[LogFile],
    begun: Sequence[int | None],
    times: Wanted,
    slack_ms: int,
) -> list[LogFile]:
    """Return the *files*, in order, that may have records stored at wanted *times*."""
    least, most = times.least, times.most
    ended = [*begun[1:], None]
    return [
        file
        for file, first_ms, next_ms in zip(files, begun, ended, strict=True)
        if (most is None or first_ms is None or first_ms <= most + slack_ms)
        and (least is None or next_ms is None or next_ms >= least - slack_ms)
    ]
