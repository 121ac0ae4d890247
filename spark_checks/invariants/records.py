"""
Invariants of the commit log's rows, one by one or beside their neighbours.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.invariants.record_contents import CONTENT_RULES
from spark_checks.invariants.shared_queues import without_shared_gaps
from spark_checks.tables.finding_rows import (
    RECORD,
    Rule,
    record_findings,
    severity_behind,
)
from spark_checks.tables.predicates import needs_unit
from spark_checks.tables.store_tables import Tables

ROW_INVARIANTS = (
    "INV-LOG-001",
    "INV-LOG-002",
    "INV-LOG-003",
    "INV-LOG-004",
    *(rule.invariant for rule in CONTENT_RULES),
)
"""Invariants about single rows of the log."""


_WRONG_CHECKSUM = "body_crc != computed_crc"
_MISPLACED = "physical_offset != offset"
WRONG_ROW = f"kind != 'record' or {_WRONG_CHECKSUM} or {_MISPLACED} or damage != 0"
"""Condition of a row of the log that may break a rule about single rows."""


def wrong_rows(tables: Tables) -> DataFrame:
    """Return the rows of the log that break a rule about single rows.

    A killed broker leaves a torn end of the last file.
    """
    situation = tables.situation
    return record_findings(
        tables.log,
        Rule(
            invariant="INV-LOG-001",
            is_broken="kind = 'damaged'",
            severity=severity_behind("offset", situation),
            expected="a record, a blank, or zeros to the end",
            found="{reason}",
            message="{size} bytes from {position} are unreadable: {reason}.",
        ),
        Rule(
            invariant="INV-LOG-002",
            is_broken=_WRONG_CHECKSUM,
            expected="0x{body_crc:08x}",
            found="0x{computed_crc:08x}",
            message=f"{RECORD} has another checksum than its body.",
        ),
        Rule(
            invariant="INV-LOG-003",
            is_broken=_MISPLACED,
            expected="{offset}",
            found="{physical_offset}",
            message="The record at {position} has physical offset {physical_offset}.",
        ),
        Rule(
            invariant="INV-LOG-004",
            is_broken=f"kind = 'tail' and file_base < {situation.last_file_base}",
            expected="a record or a blank",
            found="zeros",
            message="The file is unwritten from {position}, but a later file has"
            " records.",
        ),
        *CONTENT_RULES,
    )


def offset_gaps(tables: Tables) -> DataFrame:
    """Return the records whose queue offset does not follow the previous one."""
    in_incarnation = Window.partitionBy("topic", "queue_id", "incarnation").orderBy(
        "offset"
    )
    before = F.lag("queue_offset").over(in_incarnation)
    first_is_0 = F.lit(0 if tables.situation.min_offset == 0 else None).cast("bigint")
    expected = F.coalesce(before + 1, F.when(F.col("incarnation") == 0, first_is_0))
    rows = (
        places_with_incarnations(tables)
        .where("not is_shared")
        .withColumn("wanted", expected)
        .withColumn("before_at", F.lag("offset").over(in_incarnation))
        .where("queue_offset != wanted")
    )
    if tables.shared is not None:
        rows = without_shared_gaps(rows, tables.shared)
    return record_findings(
        rows,
        Rule(
            invariant="INV-LOG-005",
            expected="{wanted}",
            found="{queue_offset}",
            message="The record at {position} ({topic}, queue {queue_id}) has queue"
            " offset {queue_offset} instead of {wanted}.",
        ),
    )


def places_with_incarnations(tables: Tables) -> DataFrame:
    """Return the places of records that need a unit, with their queue's incarnation.

    A topic that is deleted and created again counts its queues from 0. Older records
    stay in the log, without units. Each queue offset 0 begins an incarnation. Only
    suspect queues, which are complete, are included. A place is shared if it belongs to
    a record of another topic.
    """
    queue = Window.partitionBy("topic", "queue_id").orderBy("offset")
    begins = F.when(F.col("queue_offset") == 0, 1).otherwise(0)
    records = tables.log.where(needs_unit(tables.situation) & F.col("suspect"))
    places = records.withColumn("is_shared", F.lit(False))
    if tables.shared is not None:
        shared = tables.shared.withColumn("is_shared", F.lit(True))
        places = places.unionByName(shared, allowMissingColumns=True)
    return places.withColumn("incarnation", F.sum(begins).over(queue))
