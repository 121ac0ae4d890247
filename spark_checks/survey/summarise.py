"""
Summary of a survey, and the queues that it makes suspect.

Both sides of a queue, records and units, have a count, a range and a hash that does not
depend on order. If the sides agree, every record has its unit and every unit its
record. Only queues whose sides differ are read again, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_checks.situation import Situation
from spark_checks.store_files import Store

if TYPE_CHECKING:
    from spark_checks.survey.sums import Queues
    from spark_checks.survey.survey import Survey

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSummary:
    """Sums of one side of one queue."""

    count: int
    matched_count: int
    """Records that need a unit, or units that need a record."""
    first: int | None
    """Smallest queue offset."""
    last: int | None
    hash: int | None
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveySummary:
    """Sums of a survey."""

    records: dict[tuple[str, int], QueueSummary]
    units: dict[tuple[str, int], QueueSummary]
    regions: int
    """Damaged regions of the log."""
    bad_checksums: int
    bad_places: int
    damaged: int
    """Readable records with wrong content."""
    record_count: int
    log_end: int
    """Commit-log offset after the last record."""
    last_stored_at_ms: int | None
    last_file_base: int
    """Start offset of the last file that has a record."""
    first_tail_base: int | None
    """Start offset of the first file with an unwritten end."""
    commits: int = 0
    """Committed half messages."""
    slots_used: Mapping[str, int] = field(default_factory=dict)
    """Number of index slots with an item, by the path of the index file."""
    damaged_items: int = 0
    """Index items and slots that are wrong by themselves."""
    item_sum: int = 0
    """Sum of the index items in the ranges of *key_sums*."""
    key_sums: tuple[int, ...] = (0, 0)
    """Sums of the keys in the index's ranges, without tags and with them."""
    kernel_tasks: int = 0
    """Tasks that ran with kernels."""
    plain_tasks: int = 0
    """Tasks that lacked them, although they were requested."""

    @property
    def is_index_complete(self) -> bool:
        """Whether the sums of keys and index items agree.

        Since 5.4 tags are in the index as well; a store may be of either kind.
        """
        return self.item_sum in self.key_sums

    def suspects(self, situation: Situation) -> list[tuple[str, int]]:
        """Return the queues to read again."""
        queues = sorted({*self.records, *self.units})
        return [queue for queue in queues if self._is_suspect(queue, situation)]

    @property
    def has_damaged_rows(self) -> bool:
        """Whether to read single records or items again."""
        return self.log_is_suspect or self.damaged_items > 0

    @property
    def log_is_suspect(self) -> bool:
        """Whether to read single records again."""
        odd = self.regions or self.bad_checksums or self.bad_places or self.damaged
        return bool(odd) or self.has_early_tail

    @property
    def has_early_tail(self) -> bool:
        """Whether a file has an unwritten end and a later file has records."""
        first = self.first_tail_base
        return first is not None and first < self.last_file_base

    def _is_suspect(self, queue: tuple[str, int], situation: Situation) -> bool:
        records, units = self.records.get(queue), self.units.get(queue)
        if units is not None and not _is_dense(units, units.count):
            return True
        log_side = (records.matched_count, records.hash) if records else (0, None)
        queue_side = (units.matched_count, units.hash) if units else (0, None)
        if (log_side[0] or queue_side[0]) and log_side != queue_side:
            return True
        if records is None or not records.matched_count or situation.is_sampled:
            return False
        starts_late = records.first != 0 and situation.min_offset == 0
        return starts_late or not _is_dense(records, records.matched_count)


def _is_dense(summary: QueueSummary, count: int) -> bool:
    """Return whether *count* distinct offsets fill the range."""
    if summary.first is None or summary.last is None:
        return True
    return summary.last - summary.first + 1 == count


def run_survey(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    ranges: Ranges = (),
    needs_system_topics: bool = False,
) -> Survey:
    """Return the survey of *store*, with the ledger if it is needed.

    The keys of records in *ranges* are summed up.
    """
    # Imported late: the driver needs these modules only from here on.
    from spark_checks.survey.sums import SurveyOptions
    from spark_checks.survey.survey import survey_store

    options = SurveyOptions(
        begin=store.begin,
        min_offset=situation.min_offset,
        parts=situation.parts,
        other_topics=situation.other_topics,
        delays=dict(delays),
        ranges=ranges,
        needs_system_topics=needs_system_topics,
    )
    return survey_store(session.sparkContext, store, options)


def summarise(found: Survey, min_offset: int) -> SurveySummary:
    """Return the summary of the survey *found* of a log from *min_offset*."""
    record_count = sum(sums.rows for sums in found.records.values())
    return SurveySummary(
        records=_by_queue(found.records),
        units=_by_queue(found.units),
        regions=found.regions,
        first_tail_base=found.tails[0] if found.tails else None,
        bad_checksums=found.bad_checksums,
        bad_places=found.bad_places,
        damaged=found.damaged,
        record_count=record_count,
        log_end=found.log_end if record_count else min_offset,
        last_stored_at_ms=found.last_ms if record_count else None,
        last_file_base=max(found.last_file, 0),
        commits=found.commits,
        slots_used=found.slots_used,
        damaged_items=found.damaged_items,
        item_sum=found.item_sum,
        key_sums=found.key_sums,
        kernel_tasks=found.kernel_tasks,
        plain_tasks=found.plain_tasks,
    )


def _by_queue(queues: Queues) -> dict[tuple[str, int], QueueSummary]:
    """Return the summaries of *queues*; an empty range has no ends."""
    return {
        queue: QueueSummary(
            count=sums.rows,
            matched_count=sums.matched,
            first=sums.first if sums.first <= sums.last else None,
            last=sums.last if sums.first <= sums.last else None,
            hash=sums.hash,
            bytes=sums.bytes,
        )
        for queue, sums in queues.items()
    }
