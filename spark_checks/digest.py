"""
A first pass that reads everything once and decides where to look closer.

Records and units of one queue are each boiled down to a count, a range and a hash
that does not depend on order. Where both sides agree, every record has its unit and
every unit its record, and no row of that queue has to be compared. A store in order
costs this one pass; only queues that disagree are read again, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_checks.sources.store_files import Store
from spark_checks.tables import Situation

if TYPE_CHECKING:
    from spark_checks.sources.sums import Queues
    from spark_checks.sources.survey import Survey

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDigest:
    """One side of one queue, boiled down."""

    count: int
    matched_count: int
    """Records that need a unit, or units that need a record."""
    first: int | None
    """Smallest queue offset."""
    last: int | None
    hash: int | None
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What the first pass found."""

    records: dict[tuple[str, int], QueueDigest]
    units: dict[tuple[str, int], QueueDigest]
    regions: int
    """Rows of the log that are no record, the blanks and the unwritten end apart."""
    bad_checksums: int
    bad_places: int
    flawed: int
    """Records that can be read and have something wrong with them."""
    record_count: int
    log_end: int
    """Commit-log offset after the last record."""
    last_stored_at_ms: int | None
    last_file_base: int
    """Of the last file that has a record."""
    first_tail_base: int | None
    """Of the first file that is not written to its end."""
    commits: int = 0
    """Records that were committed of half messages."""
    flawed_items: int = 0
    """Items and slots of the index that are wrong by themselves."""
    item_sum: int = 0
    """What the items sum up to that point at records whose keys were summed up."""
    key_sums: tuple[int, ...] = (0, 0)
    """What those keys sum up to, without tags and with them."""

    @property
    def is_index_complete(self) -> bool:
        """Whether the index has the keys of records, as far as sums can tell.

        Since 5.4 tags are in the index as well; a store may be of either kind.
        """
        return self.item_sum in self.key_sums

    def suspects(self, situation: Situation) -> list[tuple[str, int]]:
        """Return the queues that must be read again."""
        queues = sorted({*self.records, *self.units})
        return [queue for queue in queues if self._is_suspect(queue, situation)]

    @property
    def has_odd_rows(self) -> bool:
        """Whether single records or items must be read again."""
        return self.log_is_suspect or self.flawed_items > 0

    @property
    def log_is_suspect(self) -> bool:
        """Whether single records must be read again."""
        odd = self.regions or self.bad_checksums or self.bad_places or self.flawed
        return bool(odd) or self.has_early_tail

    @property
    def has_early_tail(self) -> bool:
        """Whether a file is not written to its end although a later one is begun."""
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


def _is_dense(digest: QueueDigest, count: int) -> bool:
    """Return whether *count* different offsets would fill the range."""
    if digest.first is None or digest.last is None:
        return True
    return digest.last - digest.first + 1 == count


def survey(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    ranges: Ranges = (),
    is_aside_wanted: bool = False,
) -> Survey:
    """Return the survey of *store*, with what was set aside if that is wanted.

    The keys of records in *ranges* are summed up too.
    """
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.sums import Asked
    from spark_checks.sources.survey import survey_store

    asked = Asked(
        begin=store.begin,
        min_offset=situation.min_offset,
        parts=situation.parts,
        other_topics=situation.other_topics,
        delays=dict(delays),
        ranges=ranges,
        is_aside_wanted=is_aside_wanted,
    )
    return survey_store(session.sparkContext, store, asked)


def digest(found: Survey, min_offset: int) -> Digest:
    """Return the digest of what a survey *found* in a log from *min_offset* on."""
    record_count = sum(sums.rows for sums in found.records.values())
    return Digest(
        records=_by_queue(found.records),
        units=_by_queue(found.units),
        regions=found.regions,
        first_tail_base=found.tails[0] if found.tails else None,
        bad_checksums=found.bad_checksums,
        bad_places=found.bad_places,
        flawed=found.flawed,
        record_count=record_count,
        log_end=found.log_end if record_count else min_offset,
        last_stored_at_ms=found.last_ms if record_count else None,
        last_file_base=max(found.last_file, 0),
        commits=found.commits,
        flawed_items=found.flawed_items,
        item_sum=found.item_sum,
        key_sums=found.key_sums,
    )


def _by_queue(queues: Queues) -> dict[tuple[str, int], QueueDigest]:
    """Return what *queues* sum up to; a range of nothing has no ends."""
    return {
        queue: QueueDigest(
            count=sums.rows,
            matched_count=sums.matched,
            first=sums.first if sums.first <= sums.last else None,
            last=sums.last if sums.first <= sums.last else None,
            hash=sums.hash,
            bytes=sums.bytes,
        )
        for queue, sums in queues.items()
    }
