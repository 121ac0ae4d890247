"""
Range of commit-log offsets that two stores have in common.
"""

from __future__ import annotations

from dataclasses import dataclass

from spark_checks.columns.record_scan import WINDOW_SIZE
from spark_checks.store_files import Store, reading
from spark_checks.survey.summary import SurveySummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Range of commit-log offsets that both stores should have."""

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


def common_of(
    here: tuple[Store, SurveySummary], there: tuple[Store, SurveySummary]
) -> Common:
    """Return the common range of both logs."""
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


def written_end(store: Store, summary: SurveySummary) -> int:
    """Return the offset behind the last written byte of *store*'s log.

    A slave receives its log in transfers of any size. A part of a record may therefore
    follow the last record.
    """
    file = store.log_file_at(summary.log_end)
    if not summary.regions or file is None:
        return summary.log_end
    base = file.base or 0
    with reading(store.url, file.path) as read_at:
        end = file.size
        while base + end > summary.log_end:
            start = max(end - WINDOW_SIZE, summary.log_end - base)
            left = len(read_at(start, end - start).rstrip(b"\0"))
            if left:
                return base + start + left
            end = start
    return summary.log_end
