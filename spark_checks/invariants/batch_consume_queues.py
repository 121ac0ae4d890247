"""
Invariants between batch records and the units of their batch consume queues.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import (
    Rule,
    findings,
    record_findings,
    severity_behind,
)
from spark_checks.tables.lmq_and_batch import (
    UNIT_KEY,
    expected_units,
    records_of,
    without_unit,
)
from spec.store import batch_queue
from spec.store.batch_queue import BATCH_QUEUE


def wrong_units(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the units that do not match a batch, or not those of a new unit."""
    names = ("size", "tags_code", "stored_at_ms", "first_queue_offset", "queue_id")
    differs = " or ".join(f"{name} != record_{name}" for name in names)
    return findings(
        _with_batches(expected_units(units, situation), records),
        Rule(
            "INV-BATCH-001",
            f"record_size is null or {differs}",
            severity_behind("commit_log_offset", situation),
        ),
        Rule("INV-BATCH-002", "message_count != record_message_count"),
        Rule(
            "INV-BATCH-004",
            f"compacted_offset != {batch_queue.NOT_COMPACTED} or reserved != 0",
        ),
        file=f"{BATCH_QUEUE}/{{queue}}/{{queue_id}}/{{file_base:020d}}",
        length=batch_queue.UNIT_SIZE,
    )


def batches_without_unit(units: DataFrame, records: DataFrame) -> DataFrame:
    """Return the batches without a unit, at the place of their record."""
    units = units.select(
        *UNIT_KEY,
        F.col("first_queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(records, "batch").withColumnRenamed("own_queue_id", "queue_id")
    return record_findings(without_unit(records, units), Rule("INV-BATCH-003"))


def _with_batches(units: DataFrame, records: DataFrame) -> DataFrame:
    names = ("size", "tags_code", "stored_at_ms", "message_count")
    batches = records_of(records, "batch").select(
        F.col("offset").alias("commit_log_offset"),
        "queue",
        F.col("own_queue_id").alias("record_queue_id"),
        F.col("number").alias("record_first_queue_offset"),
        *(F.col(name).alias(f"record_{name}") for name in names),
    )
    return units.join(batches, ["commit_log_offset", "queue"], "left")
