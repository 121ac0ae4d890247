"""
Invariants between records and the LMQs that they name.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks import counting_rules
from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import WARNING, Rule, findings
from spark_checks.tables.lmq_and_batch import (
    OtherQueues,
    expected_units,
    records_of,
    severity_of_unit,
    without_unit,
)
from spark_checks.tables.predicates import queue_file, transaction_type
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message import multi_dispatch
from spec.wire.message.topic_names import RETRY_PREFIX, SCHEDULE_TOPIC

UNIT = Invariant(
    id="INV-LIGHT-001",
    title="An LMQ unit points at a record that names the LMQ",
    requirement=multi_dispatch.DISPATCH_UNITS,
    cost="Consumers of the LMQ receive another message, or cannot pass it.",
)
OFFSET = Invariant(
    id="INV-LIGHT-002",
    title="An LMQ unit is at the queue offset that its record names",
    requirement=multi_dispatch.DISPATCH_OFFSETS,
    cost="Consumers of the LMQ receive another offset than the one that they read, and"
    " commit a wrong one.",
)
EVERY_RECORD = Invariant(
    id="INV-LIGHT-003",
    title="A record has a unit in each LMQ that it names",
    requirement=multi_dispatch.DISPATCH_UNITS,
    cost="Consumers of the LMQ never receive the message.",
)
_NOT_DISPATCHED = (RETRY_PREFIX, "rmq_sys_", "RMQ_SYS_", SCHEDULE_TOPIC)
"""Prefixes of topics that some release does not dispatch to LMQs."""


def wrong_units(tables: OtherQueues) -> DataFrame:
    """Return the LMQ units without a record that names the LMQ, or not its offset."""
    code = F.when(~F.col("own_topic").isin(SCHEDULE_TOPIC), F.col("tags_code"))
    records = (
        records_of(tables, "lmq")
        .groupBy(
            F.col("offset").alias("commit_log_offset"),
            F.col("queue").alias("topic"),
            F.col("size").alias("record_size"),
            code.alias("record_code"),
        )
        .agg(F.collect_set("number").alias("numbers"))
    )
    rows = expected_units(tables, tables.lmq).join(
        records, ["commit_log_offset", "topic"], "left"
    )
    return findings(
        rows,
        Rule(
            invariant=UNIT,
            is_broken=F.col("record_size").isNull()
            | (F.col("size") != F.col("record_size"))
            | (F.col("tags_code") != F.col("record_code")),
            severity=severity_of_unit(tables.situation),
            expected=F.coalesce(
                F.format_string("%d bytes, tags code %d", "record_size", "record_code"),
                F.lit("the commit-log offset of a record that names this LMQ"),
            ),
            found=F.format_string(
                "offset %d, %d bytes, tags code %d",
                *("commit_log_offset", "size", "tags_code"),
            ),
            message=F.format_string(
                "Unit %d of %s points at commit-log offset %d, without a matching"
                " record that names this LMQ.",
                *("queue_offset", "topic", "commit_log_offset"),
            ),
        ),
        Rule(
            invariant=OFFSET,
            is_broken=~F.array_contains("numbers", F.col("queue_offset")),
            severity=WARNING,
            expected=F.format_string("offset %d", F.element_at("numbers", 1)),
            found=F.format_string("offset %d", "queue_offset"),
            message=F.format_string(
                "Unit %d of %s points at a record that names queue offset %d.",
                *("queue_offset", "topic", F.element_at("numbers", 1)),
            ),
        ),
        file=queue_file(),
        offset=F.col("position"),
        length=F.lit(UNIT_SIZE),
    )


def records_without_unit(tables: OtherQueues) -> DataFrame:
    """Return the records without a unit in an LMQ that they name."""
    is_decided = counting_rules.is_decided(transaction_type())
    spared = F.lit(False)
    for begin in _NOT_DISPATCHED:
        spared |= F.col("own_topic").startswith(begin)
    units = tables.lmq.select(
        F.col("topic").alias("queue"),
        "queue_id",
        F.col("queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(tables, "lmq").where(is_decided & ~spared)
    # Without enableLmq the LMQ's unit has the queue id of the record's own queue.
    pointed = units.select("queue", F.col("unit_at").alias("offset"))
    records = records.join(pointed, ["queue", "offset"], "left_anti")
    rows = without_unit(records.withColumn("queue_id", F.lit(0)), units)
    file_size = tables.situation.queue_file_size
    base = F.floor(F.col("number") * UNIT_SIZE / file_size) * file_size
    return findings(
        rows,
        Rule(
            invariant=EVERY_RECORD,
            severity=WARNING,
            expected=F.format_string("a unit of the record at offset %d", "offset"),
            found="none",
            message=F.format_string(
                "The record at commit-log offset %d names %s, offset %d, but has no"
                " unit there.",
                *("offset", "queue", "number"),
            ),
        ),
        file=F.format_string("consumequeue/%s/0/%020d", "queue", base),
        offset=F.col("number") * UNIT_SIZE - base,
        length=F.lit(UNIT_SIZE),
    )
