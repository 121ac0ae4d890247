"""
What must be true between records and the light queues that they name.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.other_queues import (
    OtherQueues,
    asked,
    records_of,
    severity_of_unit,
    without_unit,
)
from spark_checks.invariants.rows import WARNING, finding
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import SystemFlag
from spec.wire import multi_dispatch
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.groups import RETRY_PREFIX

UNIT = Invariant(
    id="INV-LIGHT-001",
    title="A unit of a light queue is that of a record that names the queue",
    requirement=multi_dispatch.DISPATCH_UNITS,
    cost="Who reads the light queue is given another message than was put there, or"
    " does not get past it.",
)
OFFSET = Invariant(
    id="INV-LIGHT-002",
    title="A unit of a light queue has the offset that its record names",
    requirement=multi_dispatch.DISPATCH_OFFSETS,
    cost="Who reads the light queue is told another offset than the one he has read:"
    " what he commits is not where he is.",
)
EVERY_RECORD = Invariant(
    id="INV-LIGHT-003",
    title="A record has a unit in the light queues that it names",
    requirement=multi_dispatch.DISPATCH_UNITS,
    cost="Who reads the light queue never sees the message.",
)
_NOT_DISPATCHED = (RETRY_PREFIX, "rmq_sys_", "RMQ_SYS_", SCHEDULE_TOPIC)
"""How topics begin whose messages some release puts into no light queue."""


def wrong_units(tables: OtherQueues) -> DataFrame:
    """Return the units of light queues that are of no record that names the queue."""
    records = records_of(tables, "light").select(
        F.col("offset").alias("commit_log_offset"),
        F.col("queue").alias("topic"),
        F.col("size").alias("record_size"),
        F.when(~F.col("own_topic").isin(SCHEDULE_TOPIC), F.col("tags_code")).alias(
            "record_code"
        ),
    )
    rows = (
        asked(tables, tables.light)
        .join(records.distinct(), ["commit_log_offset", "topic"], "left")
        .where(
            F.col("record_size").isNull()
            | (F.col("size") != F.col("record_size"))
            | (F.col("tags_code") != F.col("record_code"))
        )
    )
    return finding(
        rows,
        severity=severity_of_unit(tables.situation),
        file=_file(),
        offset=F.col("position"),
        length=F.lit(UNIT_SIZE),
        expected=F.coalesce(
            F.format_string("%d bytes, tags code %d", "record_size", "record_code"),
            F.lit("the offset of a record that names this queue"),
        ),
        found=F.format_string(
            "offset %d, %d bytes, tags code %d",
            *("commit_log_offset", "size", "tags_code"),
        ),
        message=F.format_string(
            "Unit %d of %s points at commit-log offset %d, and is not that of a record"
            " there that names this queue.",
            *("queue_offset", "topic", "commit_log_offset"),
        ),
    )


def units_elsewhere(tables: OtherQueues) -> DataFrame:
    """Return the units of light queues that have another offset than they should."""
    records = records_of(tables, "light").select(
        F.col("offset").alias("commit_log_offset"),
        F.col("queue").alias("topic"),
        "number",
    )
    named = records.groupBy("commit_log_offset", "topic").agg(
        F.collect_set("number").alias("numbers")
    )
    rows = (
        asked(tables, tables.light)
        .join(named, ["commit_log_offset", "topic"])
        .where(~F.array_contains("numbers", F.col("queue_offset")))
    )
    return finding(
        rows,
        severity=F.lit(WARNING),
        file=_file(),
        offset=F.col("position"),
        length=F.lit(UNIT_SIZE),
        expected=F.format_string("offset %d", F.element_at("numbers", 1)),
        found=F.format_string("offset %d", "queue_offset"),
        message=F.format_string(
            "Unit %d of %s is of a record that says it is unit %d.",
            *(F.col("queue_offset"), F.col("topic"), F.element_at("numbers", 1)),
        ),
    )


def records_without_unit(tables: OtherQueues) -> DataFrame:
    """Return the records without a unit in a light queue that they name."""
    flags = F.col("system_flags").bitwiseAND(int(SystemFlag.TRANSACTION_ROLLBACK))
    half = flags.isin(
        int(SystemFlag.TRANSACTION_PREPARED), int(SystemFlag.TRANSACTION_ROLLBACK)
    )
    spared = F.lit(False)
    for begin in _NOT_DISPATCHED:
        spared |= F.col("own_topic").startswith(begin)
    units = tables.light.select(
        F.col("topic").alias("queue"),
        "queue_id",
        F.col("queue_offset").alias("number"),
        F.col("commit_log_offset").alias("unit_at"),
    )
    records = records_of(tables, "light").where(~half & ~spared)
    # Without enableLmq the queue has the number of the record's own.
    pointed = units.select("queue", F.col("unit_at").alias("offset"))
    records = records.join(pointed, ["queue", "offset"], "left_anti")
    rows = without_unit(records.withColumn("queue_id", F.lit(0)), units)
    file_size = tables.situation.queue_file_size
    base = F.floor(F.col("number") * UNIT_SIZE / file_size) * file_size
    return finding(
        rows,
        severity=F.lit(WARNING),
        file=F.format_string("consumequeue/%s/0/%020d", "queue", base),
        offset=F.col("number") * UNIT_SIZE - base,
        length=F.lit(UNIT_SIZE),
        expected=F.format_string("a unit of the record at offset %d", "offset"),
        found=F.lit("none"),
        message=F.format_string(
            "The record at commit-log offset %d names %s, offset %d, and has no unit"
            " there.",
            *("offset", "queue", "number"),
        ),
    )


def _file() -> Column:
    return F.format_string(
        "consumequeue/%s/%d/%020d", *("topic", "queue_id", "file_base")
    )
