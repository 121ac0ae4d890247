"""
Invariants between batch records and the units of their batch consume queues.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import ERROR, WARNING, Rule, findings
from spark_checks.tables.lmq_and_batch import (
    UNIT_KEY,
    OtherQueues,
    expected_units,
    records_of,
    severity_of_unit,
    without_unit,
)
from spec.store import batch_queue
from spec.store.batch_queue import BATCH_QUEUE

UNIT = Invariant(
    id="INV-BATCH-001",
    title="A batch consume-queue unit matches its batch",
    requirement=batch_queue.BATCH_UNIT_FIELDS,
    cost="Consumers receive another message than the one at their offset, or none.",
)
COUNT = Invariant(
    id="INV-BATCH-002",
    title="A batch consume-queue unit has the message count of its batch",
    requirement=batch_queue.BATCH_UNIT_COUNT,
    cost="Offsets within the batch are wrong: messages of it are skipped or repeated.",
)
EVERY_RECORD = Invariant(
    id="INV-BATCH-003",
    title="A batch has a unit in its batch consume queue",
    requirement=batch_queue.BATCH_UNIT_BASE,
    cost="Consumers never receive the messages of the batch.",
)
REST = Invariant(
    id="INV-BATCH-004",
    title="A batch consume-queue unit has the compacted offset -1, and ends with 0",
    requirement=batch_queue.BATCH_UNIT_REST,
    cost="The unit is damaged. A reader of a compacted log reads the message from"
    " another place.",
)


def wrong_units(tables: OtherQueues) -> DataFrame:
    """Return the units that do not match a batch, or not those of a new unit."""
    of_unit = "%d bytes, tags code %d, stored at %d, offset %d"
    return findings(
        _units(tables),
        _rule(
            UNIT,
            F.col("record_size").isNull()
            | (F.col("size") != F.col("record_size"))
            | (F.col("tags_code") != F.col("record_code"))
            | (F.col("stored_at_ms") != F.col("record_ms"))
            | (F.col("first_queue_offset") != F.col("record_number"))
            | (F.col("queue_id") != F.col("record_queue_id")),
            "no batch there matches it.",
            severity=severity_of_unit(tables.situation),
            expected=F.coalesce(
                F.format_string(
                    of_unit,
                    *("record_size", "record_code", "record_ms", "record_number"),
                ),
                F.lit("the commit-log offset of a batch of this topic"),
            ),
            found=F.format_string(
                of_unit, *("size", "tags_code", "stored_at_ms", "first_queue_offset")
            ),
        ),
        _rule(
            COUNT,
            F.col("message_count") != F.col("record_count"),
            "has another message count than its batch.",
            severity=ERROR,
            expected=F.format_string("%d messages", "record_count"),
            found=F.format_string("%d messages", "message_count"),
        ),
        _rule(
            REST,
            (F.col("compacted_offset") != batch_queue.NOT_COMPACTED)
            | (F.col("reserved") != 0),
            "its last fields are not those of a new unit.",
            severity=WARNING,
            expected="compacted offset -1, then 0",
            found=F.format_string(
                "compacted offset %d, then %d", "compacted_offset", "reserved"
            ),
        ),
        file=F.format_string(f"{BATCH_QUEUE}/%s/%d/%020d", *UNIT_KEY, "file_base"),
        offset=F.col("position"),
        length=F.lit(batch_queue.UNIT_SIZE),
    )


def batches_without_unit(tables: OtherQueues) -> DataFrame:
    """Return the batches without a unit, at the place of their record."""
    units = tables.batch.select(
        *UNIT_KEY,
        F.col("first_queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(tables, "batch").withColumnRenamed("own_queue_id", "queue_id")
    return findings(
        without_unit(records, units),
        Rule(
            invariant=EVERY_RECORD,
            severity=tables.situation.tail_severity,
            expected=F.format_string(
                "a unit in %s/%s/%d", F.lit(BATCH_QUEUE), *UNIT_KEY
            ),
            found="none",
            message=F.format_string(
                "The batch at %d (%s, queue %d, offset %d) has no unit.",
                *("position", "queue", "queue_id", "number"),
            ),
        ),
        file=F.format_string("commitlog/%020d", "file_base"),
        offset=F.col("position"),
        length=F.col("size"),
    )


def _units(tables: OtherQueues) -> DataFrame:
    records = records_of(tables, "batch").select(
        F.col("offset").alias("commit_log_offset"),
        "queue",
        F.col("own_queue_id").alias("record_queue_id"),
        F.col("size").alias("record_size"),
        F.col("tags_code").alias("record_code"),
        F.col("stored_at_ms").alias("record_ms"),
        F.col("number").alias("record_number"),
        F.col("message_count").alias("record_count"),
    )
    return expected_units(tables, tables.batch).join(
        records, ["commit_log_offset", "queue"], "left"
    )


def _rule(
    invariant: Invariant,
    is_broken: Column,
    text: str,
    *,
    severity: Column | str,
    expected: Column | str,
    found: Column,
) -> Rule:
    return Rule(
        invariant=invariant,
        is_broken=is_broken,
        severity=severity,
        expected=expected,
        found=found,
        message=F.format_string(
            "The unit at %d of queue %d of %s points at commit-log offset %d, but"
            f" {text}",
            *("position", "queue_id", "queue", "commit_log_offset"),
        ),
    )
