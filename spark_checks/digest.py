"""
A first pass that reads everything once and decides where to look closer.

Records and units of one queue are each boiled down to a count, a range and a hash
that does not depend on order. Where both sides agree, every record has its unit and
every unit its record, and no row of that queue has to be compared. A store in order
costs this one pass; only queues that disagree are read again, row by row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.sources.store_files import Store
from spark_checks.tables import Situation, listing

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

    def suspects(self, min_offset: int) -> list[tuple[str, int]]:
        """Return the queues that must be read again, of a log from *min_offset* on."""
        queues = sorted({*self.records, *self.units})
        return [queue for queue in queues if self._is_suspect(queue, min_offset)]

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

    def _is_suspect(self, queue: tuple[str, int], min_offset: int) -> bool:
        records, units = self.records.get(queue), self.units.get(queue)
        if units is not None and not _is_dense(units, units.count):
            return True
        log_side = (records.matched_count, records.hash) if records else (0, None)
        queue_side = (units.matched_count, units.hash) if units else (0, None)
        if (log_side[0] or queue_side[0]) and log_side != queue_side:
            return True
        if records is None or not records.matched_count:
            return False
        starts_late = records.first != 0 and min_offset == 0
        return starts_late or not _is_dense(records, records.matched_count)


def _is_dense(digest: QueueDigest, count: int) -> bool:
    """Return whether *count* different offsets would fill the range."""
    if digest.first is None or digest.last is None:
        return True
    return digest.last - digest.first + 1 == count


def open_survey(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    ranges: Ranges = (),
    is_aside_wanted: bool = False,
) -> DataFrame:
    """Return the survey of *store*: sums, and what was set aside if that is wanted.

    The keys of records in *ranges* are summed up too.
    """
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.survey import SurveySource

    session.dataSource.register(SurveySource)
    asked = {
        "begin": store.begin,
        "min_offset": situation.min_offset,
        "other_topics": sorted(situation.other_topics),
        "delays": dict(delays),
        "ranges": ranges,
        "is_aside_wanted": is_aside_wanted,
    }
    return (
        session.read.format("rocketmq.survey")
        .option("url", store.url)
        .option("log", listing(store.commit_log))
        .option("queues", listing(store.consume_queues))
        .option("index", json.dumps([[file.path, file.size] for file in store.index]))
        .option("partitions", str(session.sparkContext.defaultParallelism))
        .option("asked", json.dumps(asked))
        .load()
    )


def digest(survey: DataFrame, min_offset: int) -> Digest:
    """Return the digest that a *survey* of a log from *min_offset* on sums up to."""
    rows = (
        survey.where(F.col("side").isin("log", "queue", "index", "keys"))
        .groupBy("side", "kind", "topic", "queue_id")
        .agg(*(made(name).alias(name) for name, made in _SUMMED.items()))
        .collect()
    )
    sides = {
        side: [row for row in rows if row.side == side]
        for side in ("log", "queue", "index", "keys")
    }
    record_rows = [row for row in sides["log"] if row.kind == "record"]
    return Digest(
        records=_by_queue(record_rows),
        units=_by_queue(sides["queue"]),
        regions=sum(row.rows for row in sides["log"] if row.kind == "damaged"),
        first_tail_base=min(
            (row.first_file for row in sides["log"] if row.kind == "tail"), default=None
        ),
        bad_checksums=sum(row.bad_checksums for row in record_rows),
        bad_places=sum(row.bad_places for row in record_rows),
        flawed=sum(row.flawed for row in record_rows),
        record_count=sum(row.rows for row in record_rows),
        log_end=max((row.end for row in record_rows), default=min_offset),
        last_stored_at_ms=max((row.last_ms for row in record_rows), default=None),
        last_file_base=max((row.last_file for row in record_rows), default=0),
        commits=sum(row.commits for row in record_rows),
        flawed_items=sum(row.flawed for row in sides["index"]),
        item_sum=sum(row["hash"] for row in sides["index"]),
        key_sums=tuple(
            sum(row[name] for row in sides["keys"]) for name in ("hash", "tagged_hash")
        ),
    )


def _by_queue(rows: Sequence[Row]) -> dict[tuple[str, int], QueueDigest]:
    return {
        (row.topic, row.queue_id): QueueDigest(
            count=row.rows,
            matched_count=row.matched,
            first=row.first,
            last=row.last,
            hash=row.hash,
            bytes=row.bytes,
        )
        for row in rows
    }


_SUMMED: Mapping[str, Callable[[str], Column]] = {
    **dict.fromkeys(("rows", "matched", "bytes"), F.sum),
    **dict.fromkeys(("bad_checksums", "bad_places", "flawed", "commits"), F.sum),
    **dict.fromkeys(("first", "first_file"), F.min),
    **dict.fromkeys(("last", "end", "last_ms", "last_file"), F.max),
    **dict.fromkeys(("hash", "tagged_hash"), F.bit_xor),
}
"""How the sums of pieces make the sum of a whole."""
