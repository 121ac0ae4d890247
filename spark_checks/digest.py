"""
A first pass that reads everything once and decides where to look closer.

Records and units of one queue are each boiled down to a count, a range and a hash
that does not depend on order. Where both sides agree, every record has its unit and
every unit its record, and no row of that queue has to be compared. A store in order
costs this one pass; only queues that disagree are read again, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.tables import (
    Tables,
    is_commit,
    is_record,
    needs_record,
    needs_unit,
)


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

    def suspects(self, tables: Tables) -> list[tuple[str, int]]:
        """Return the queues that must be read again."""
        queues = sorted({*self.records, *self.units})
        return [queue for queue in queues if self._is_suspect(queue, tables)]

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

    def _is_suspect(self, queue: tuple[str, int], tables: Tables) -> bool:
        records, units = self.records.get(queue), self.units.get(queue)
        if units is not None and not _is_dense(units, units.count):
            return True
        log_side = (records.matched_count, records.hash) if records else (0, None)
        queue_side = (units.matched_count, units.hash) if units else (0, None)
        if (log_side[0] or queue_side[0]) and log_side != queue_side:
            return True
        if records is None or not records.matched_count:
            return False
        starts_late = records.first != 0 and tables.situation.min_offset == 0
        return starts_late or not _is_dense(records, records.matched_count)


def _is_dense(digest: QueueDigest, count: int) -> bool:
    """Return whether *count* different offsets would fill the range."""
    if digest.first is None or digest.last is None:
        return True
    return digest.last - digest.first + 1 == count


def digest(tables: Tables) -> Digest:
    """Return the digest of *tables*, made in one job."""
    rows = _log_side(tables).unionByName(_unit_side(tables)).collect()
    log_rows = [row for row in rows if row.side == "log"]
    record_rows = [row for row in log_rows if row.kind == "record"]
    written = [row.end for row in record_rows if row.end is not None]
    times = [row.last_ms for row in record_rows if row.last_ms is not None]
    return Digest(
        records=_by_queue(record_rows),
        units=_by_queue([row for row in rows if row.side == "queue"]),
        regions=sum(row.rows for row in log_rows if row.kind == "damaged"),
        first_tail_base=min(
            (row.first_file for row in log_rows if row.kind == "tail"), default=None
        ),
        bad_checksums=sum(row.bad_checksums for row in record_rows),
        bad_places=sum(row.bad_places for row in record_rows),
        flawed=sum(row.flawed for row in record_rows),
        record_count=sum(row.rows for row in record_rows),
        log_end=max(written, default=tables.situation.min_offset),
        last_stored_at_ms=max(times, default=None),
        last_file_base=max((row.last_file for row in record_rows), default=0),
        commits=sum(row.commits for row in record_rows),
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


def _log_side(tables: Tables) -> DataFrame:
    """Return a row for every queue in the log, and one for every other kind."""
    needed = needs_unit(tables.situation)
    identity = F.xxhash64("queue_offset", "offset", "size", "tags_code")
    return tables.log.groupBy("kind", "topic", "queue_id").agg(
        F.lit("log").alias("side"),
        *_measures(needed, identity, needed),
        _count(is_record() & (F.col("body_crc") != F.col("computed_crc"))).alias(
            "bad_checksums"
        ),
        _count(is_record() & (F.col("physical_offset") != F.col("offset"))).alias(
            "bad_places"
        ),
        _count(F.col("flaws") != 0).alias("flawed"),
        _count(is_record() & is_commit()).alias("commits"),
        F.max(F.col("offset") + F.col("size")).alias("end"),
        F.max("stored_at_ms").alias("last_ms"),
        F.max("file_base").alias("last_file"),
        F.min("file_base").alias("first_file"),
    )


_OF_THE_LOG = ("end", "last_ms", "last_file", "first_file")


def _unit_side(tables: Tables) -> DataFrame:
    """Return a row for every queue that has units."""
    needed = needs_record(tables.situation)
    identity = F.xxhash64(
        "queue_offset",
        "commit_log_offset",
        F.col("size").cast("bigint"),
        "tags_code",
    )
    nothing = F.lit(None).cast("bigint")
    return tables.units.groupBy("topic", "queue_id").agg(
        F.lit("queue").alias("side"),
        F.lit("unit").alias("kind"),
        *_measures(needed, identity, F.lit(True)),
        F.lit(0).cast("bigint").alias("bad_checksums"),
        F.lit(0).cast("bigint").alias("bad_places"),
        F.lit(0).cast("bigint").alias("flawed"),
        F.lit(0).cast("bigint").alias("commits"),
        *(nothing.alias(name) for name in _OF_THE_LOG),
    )


def _measures(needed: Column, identity: Column, ranged: Column) -> list[Column]:
    """Return what both sides count alike."""
    offset = F.when(ranged, F.col("queue_offset"))
    return [
        F.count(F.lit(1)).alias("rows"),
        _count(needed).alias("matched"),
        F.min(offset).alias("first"),
        F.max(offset).alias("last"),
        F.bit_xor(F.when(needed, identity)).alias("hash"),
        F.sum(F.when(needed, F.col("size").cast("bigint"))).alias("bytes"),
    ]


def _count(condition: Column) -> Column:
    return F.count(F.when(condition, F.lit(1)))
