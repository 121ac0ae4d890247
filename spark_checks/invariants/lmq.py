"""
Invariants between records and the LMQs that they name.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks import counting_rules
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import (
    Rule,
    findings,
    severity_behind,
    unit_findings,
)
from spark_checks.tables.lmq_and_batch import expected_units, records_of, without_unit
from spark_checks.tables.predicates import transaction_type
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import RETRY_PREFIX, SCHEDULE_TOPIC

_NOT_DISPATCHED = (RETRY_PREFIX, "rmq_sys_", "RMQ_SYS_", SCHEDULE_TOPIC)
"""Prefixes of topics that some release does not dispatch to LMQs."""


def wrong_units(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the LMQ units without a record that names the LMQ, or not its offset."""
    code = F.expr(f"if(own_topic != '{SCHEDULE_TOPIC}', tags_code, null)")
    named = (
        records_of(records, "lmq")
        .groupBy(
            F.col("offset").alias("commit_log_offset"),
            F.col("queue").alias("topic"),
            F.col("size").alias("record_size"),
            code.alias("record_code"),
        )
        .agg(F.collect_set("number").alias("numbers"))
    )
    rows = expected_units(units, situation).join(
        named, ["commit_log_offset", "topic"], "left"
    )
    return unit_findings(
        rows,
        Rule(
            "INV-LIGHT-001",
            "record_size is null or size != record_size or tags_code != record_code",
            severity_behind("commit_log_offset", situation),
        ),
        Rule("INV-LIGHT-002", "not array_contains(numbers, queue_offset)"),
    )


def records_without_unit(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the records without a unit in an LMQ that they name."""
    is_decided = counting_rules.is_decided(transaction_type())
    spared = F.lit(False)
    for begin in _NOT_DISPATCHED:
        spared |= F.col("own_topic").startswith(begin)
    units = units.select(
        F.col("topic").alias("queue"),
        "queue_id",
        F.col("queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(records, "lmq").where(is_decided & ~spared)
    # Without enableLmq the LMQ's unit has the queue id of the record's own queue.
    pointed = units.select("queue", F.col("unit_at").alias("offset"))
    records = records.join(pointed, ["queue", "offset"], "left_anti")
    rows = without_unit(records.withColumn("queue_id", F.lit(0)), units)
    file_size = situation.queue_file_size
    base = f"floor(number * {UNIT_SIZE} / {file_size}) * {file_size}"
    return findings(
        rows,
        Rule("INV-LIGHT-003"),
        file=f"consumequeue/{{queue}}/0/{{{base}:020d}}",
        offset=f"number * {UNIT_SIZE} - {base}",
        length=UNIT_SIZE,
    )
