"""
Where the part of two logs begins and ends that both should have.
"""

from __future__ import annotations

from dataclasses import dataclass

from spark_checks.against.pieces import file_at
from spark_checks.digest import Digest
from spark_checks.sources.record_scan import WINDOW_SIZE
from spark_checks.sources.store_files import Store, reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The range of commit-log offsets that both stores should have."""

    begin: int
    end: int
    here_begin: int
    here_end: int
    there_begin: int
    there_end: int

    @property
    def is_empty(self) -> bool:
        """Whether one log ends before the other begins."""
        return self.end <= self.begin


def common_of(here: tuple[Store, Digest], there: tuple[Store, Digest]) -> Common:
    """Return what the logs of both should have in common."""
    begins = here[0].min_offset, there[0].min_offset
    ends = written_end(*here), written_end(*there)
    return Common(
        begin=max(begins),
        end=min(ends),
        here_begin=begins[0],
        here_end=ends[0],
        there_begin=begins[1],
        there_end=ends[1],
    )


def written_end(store: Store, seen: Digest) -> int:
    """Return the offset behind the last byte that was written of *store*'s log.

    That is the end of its last record, unless a part of another follows: a slave
    gets its log in pieces that end anywhere.
    """
    file = file_at(store.commit_log, seen.log_end)
    if not seen.regions or file is None:
        return seen.log_end
    base = file.base or 0
    with reading(store.url, file.path) as read_at:
        end = file.size
        while base + end > seen.log_end:
            start = max(end - WINDOW_SIZE, seen.log_end - base)
            left = len(read_at(start, end - start).rstrip(b"\0"))
            if left:
                return base + start + left
            end = start
    return seen.log_end
