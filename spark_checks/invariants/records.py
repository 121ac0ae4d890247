"""Invariants of the commit log's rows, one by one or beside their neighbours."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.scan.record_damage import CLOCK_TOLERANCE_MS, RecordDamage
from spark_checks.invariants.shared_queues import without_shared_gaps
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import (
    Rule,
    damage_rules,
    record_findings,
    severity_behind,
)
from spark_checks.tables.predicates import QUEUE_PART, needs_unit
from spark_checks.tables.store_tables import Tables
from spec.integers import INT64_MIN
from spec.wire.bodies.zlib_stream import COMPRESSION_TYPE, LZ4_TYPE, ZSTD_TYPE

_CODEC = (
    f"decode(system_flags & {COMPRESSION_TYPE},"
    f" {LZ4_TYPE}, 'LZ4', {ZSTD_TYPE}, 'Zstandard', 'zlib')"
)
CONTENT_INVARIANTS = {
    RecordDamage.PROPERTIES: "INV-LOG-006",
    RecordDamage.FLAGS: "INV-LOG-007",
    RecordDamage.TIME: "INV-LOG-008",
    RecordDamage.COMPRESSION: "INV-LOG-009",
    RecordDamage.CHECKSUM: "INV-LOG-010",
    RecordDamage.PORT: "INV-LOG-011",
    RecordDamage.HALF_OFFSET: "INV-LOG-012",
    RecordDamage.RANGE: "INV-LOG-013",
}
"""Invariants of a readable record's content, by the damage that breaks them."""


def wrong_rows(tables: Tables) -> DataFrame:
    """Return the rows of the log that break a rule about single rows.

    A killed broker leaves a torn end of the last file.
    """
    situation = tables.situation
    return record_findings(
        tables.log,
        Rule("INV-LOG-001", "kind = 'damaged'", severity_behind("offset", situation)),
        Rule("INV-LOG-002", "body_crc != computed_crc"),
        Rule("INV-LOG-003", "physical_offset != offset"),
        Rule(
            "INV-LOG-004", f"kind = 'tail' and file_base < {situation.last_file_base}"
        ),
        *damage_rules(
            CONTENT_INVARIANTS, codec=_CODEC, tolerance_ms=str(CLOCK_TOLERANCE_MS)
        ),
    )


def offset_gaps(tables: Tables) -> DataFrame:
    """Return the records whose queue offset does not follow the previous one.

    Whether a deleted topic had batch consume queues is unknown.
    """
    in_incarnation = Window.partitionBy(*QUEUE_PART, "incarnation").orderBy("offset")
    before = F.lag("queue_offset").over(in_incarnation)
    first_is_0 = F.lit(0 if tables.situation.min_offset == 0 else None).cast("bigint")
    is_first = (F.col("incarnation") == 0) & (F.col("part_first") == INT64_MIN)
    expected = F.coalesce(before + 1, F.when(is_first, first_is_0))
    rows = (
        places_with_incarnations(tables)
        .where("not is_shared")
        .withColumn("wanted", expected)
        .withColumn("before_at", F.lag("offset").over(in_incarnation))
        .where("queue_offset != wanted")
    )
    if tables.shared is not None:
        rows = without_shared_gaps(rows, tables.shared)
    rows = of_known_topics(rows, tables.situation)
    return record_findings(rows, Rule("INV-LOG-005"))


def of_known_topics(rows: DataFrame, situation: Situation) -> DataFrame:
    """Return *rows* without those of deleted topics, as far as topics are known."""
    if situation.known_topics is None:
        return rows
    return rows.where(F.col("topic").isin(*situation.known_topics, ""))


def places_with_incarnations(tables: Tables) -> DataFrame:
    """Return the places of records that need a unit, with their queue's incarnation.

    A topic that is deleted and created again counts its queues from 0. Older records
    stay in the log, without units. Each queue offset 0 begins an incarnation. Only
    suspect parts of queues, which are complete, are included. A place is shared if it
    belongs to a record of another topic.
    """
    queue = Window.partitionBy("topic", "queue_id").orderBy("offset")
    begins = F.when(F.col("queue_offset") == 0, 1).otherwise(0)
    is_suspect = F.col("part_first").isNotNull()
    records = tables.log.where(needs_unit(tables.situation) & is_suspect)
    places = records.withColumn("is_shared", F.lit(False))
    if tables.shared is not None:
        shared = tables.shared.withColumn("is_shared", F.lit(True))
        places = places.unionByName(shared, allowMissingColumns=True)
    return places.withColumn("incarnation", F.sum(begins).over(queue))
