"""
Invariants between batch records and the units of their batch consume queues.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.tables.finding_rows import (
    Rule,
    findings,
    record_findings,
    severity_behind,
)
from spark_checks.tables.lmq_and_batch import (
    UNIT_KEY,
    OtherQueues,
    expected_units,
    records_of,
    without_unit,
)
from spec.store import batch_queue
from spec.store.batch_queue import BATCH_QUEUE

_SENTENCE = (
    "The unit at {position} of queue {queue_id} of {queue} points at commit-log offset"
    " {commit_log_offset}, but"
)


def wrong_units(tables: OtherQueues) -> DataFrame:
    """Return the units that do not match a batch, or not those of a new unit."""
    names = ("size", "tags_code", "stored_at_ms", "first_queue_offset", "queue_id")
    differs = " or ".join(f"{name} != record_{name}" for name in names)
    return findings(
        _units(tables),
        Rule(
            invariant="INV-BATCH-001",
            is_broken=f"record_size is null or {differs}",
            severity=severity_behind("commit_log_offset", tables.situation),
            expected="{coalesce(record_size || ' bytes, tags code ' || record_tags_code"
            " || ', stored at ' || record_stored_at_ms || ', offset ' ||"
            " record_first_queue_offset, 'the commit-log offset of a batch of this"
            " topic')}",
            found="{size} bytes, tags code {tags_code}, stored at {stored_at_ms},"
            " offset {first_queue_offset}",
            message=f"{_SENTENCE} no batch there matches it.",
        ),
        Rule(
            invariant="INV-BATCH-002",
            is_broken="message_count != record_message_count",
            expected="{record_message_count} messages",
            found="{message_count} messages",
            message=f"{_SENTENCE} has another message count than its batch.",
        ),
        Rule(
            invariant="INV-BATCH-004",
            is_broken=f"compacted_offset != {batch_queue.NOT_COMPACTED}"
            " or reserved != 0",
            expected="compacted offset -1, then 0",
            found="compacted offset {compacted_offset}, then {reserved}",
            message=f"{_SENTENCE} its last fields are not those of a new unit.",
        ),
        file=f"{BATCH_QUEUE}/{{queue}}/{{queue_id}}/{{file_base:020d}}",
        length=batch_queue.UNIT_SIZE,
    )


def batches_without_unit(tables: OtherQueues) -> DataFrame:
    """Return the batches without a unit, at the place of their record."""
    units = tables.batch.select(
        *UNIT_KEY,
        F.col("first_queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(tables, "batch").withColumnRenamed("own_queue_id", "queue_id")
    return record_findings(
        without_unit(records, units),
        Rule(
            invariant="INV-BATCH-003",
            expected=f"a unit in {BATCH_QUEUE}/{{queue}}/{{queue_id}}",
            found="none",
            message="The batch at {position} ({queue}, queue {queue_id}, offset"
            " {number}) has no unit.",
        ),
    )


def _units(tables: OtherQueues) -> DataFrame:
    names = ("size", "tags_code", "stored_at_ms", "message_count")
    records = records_of(tables, "batch").select(
        F.col("offset").alias("commit_log_offset"),
        "queue",
        F.col("own_queue_id").alias("record_queue_id"),
        F.col("number").alias("record_first_queue_offset"),
        *(F.col(name).alias(f"record_{name}") for name in names),
    )
    return expected_units(tables, tables.batch).join(
        records, ["commit_log_offset", "queue"], "left"
    )
