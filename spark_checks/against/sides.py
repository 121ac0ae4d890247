"""Result of a comparison, and its two sides: stores with their surveys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark import SparkContext
from pyspark.sql import DataFrame, Row

from columns.scan.log_file import WINDOW_SIZE
from columns.scan.record_columns import Queue
from spark_checks.against.differences import Piece
from spark_checks.file_systems import reading
from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import Place
from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.survey import survey_store
from spec.integers import INT64_MAX
from spec.store.file_names import file_name

NAMES = {"here": "this store", "there": "the other store"}
"""Name of each side in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two stores, with its survey."""

    store: Store
    units: DataFrame
    """Consume-queue units that must point at a record."""
    summary: SurveySummary
    end: int
    """Commit-log offset behind the last written byte."""
    before: int = 0
    """Records before the other log's begin."""
    behind: Mapping[Queue, int] = field(default_factory=dict)
    """Records of each queue behind the other log's end."""

    @property
    def begin(self) -> int:
        """First commit-log offset."""
        return self.store.min_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of a comparison of two stores."""

    here: Side
    there: Side
    begin: int
    """Begin of the commit-log offsets that both stores should have."""
    end: int
    gaps: tuple[Piece, ...]
    """Pieces for which one side has no file."""
    first: Row | None
    """First difference of the logs."""
    ranges: Sequence[Row]
    changed: Sequence[Row]
    """Listed records that both have, with different contents."""
    changed_count: int
    one_sided: Sequence[Row]
    """Messages that one side lacks, by queue."""
    unit_findings: Sequence[Finding]

    def place(self, offset: int, size: int) -> Place:
        """Return the place of *size* bytes at a commit-log *offset* in this store.

        If this store has no such file, the other store's file name is used.
        """
        for side in (self.here, self.there):
            file = side.store.log_file_at(offset)
            if file is not None:
                return file.path, (offset - file.base, size)
        return f"commitlog/{file_name(offset)}", (0, size)


def written_end(store: Store, summary: SurveySummary) -> int:
    """Return the offset behind the last written byte of *store*'s log.

    A slave receives its log in transfers of any size. A part of a record may therefore
    follow the last record.
    """
    file = store.log_file_at(summary.log_end)
    if not summary.regions or file is None:
        return summary.log_end
    base = file.base
    with reading(store.url, file.path) as read_at:
        end = file.size
        while base + end > summary.log_end:
            start = max(end - WINDOW_SIZE, summary.log_end - base)
            left = len(read_at(start, end - start).rstrip(b"\0"))
            if left:
                return base + start + left
            end = start
    return summary.log_end


def with_outside(context: SparkContext, side: Side, *, begin: int, end: int) -> Side:
    """Return *side* with the numbers of its records outside the range of offsets."""
    if (side.begin, side.end) == (begin, end):
        return side
    before, behind = (
        survey_store(
            context,
            replace(side.store, files=side.store.commit_log, parts=(part,)),
            Situation(needs_system_topics=False),
        ).summary
        for part in ((0, begin), (max(begin, end), INT64_MAX))
    )
    counts = {queue: one.count for queue, one in behind.records.items()}
    return replace(side, before=before.record_count, behind=counts)
