"""
Invariants of LMQs and batch consume queues, and of the records dispatched to them.

A store does not contain the broker's settings. A deletion leaves the same files as a
lost LMQ (4.9.7 DefaultMessageStore#cleanUnusedLmqTopic). A record without a unit is
therefore reported only in an LMQ that exists, behind units of earlier records. Topics
with batch consume queues are in topics.json.
"""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks import counting_rules
from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.readers.consume_queue import BatchConsumeQueueSource
from spark_checks.readers.multi_dispatch import MultiDispatchSource
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import (
    Rule,
    findings,
    record_findings,
    severity_behind,
    unit_findings,
)
from spark_checks.tables.predicates import (
    after_earlier_unit,
    into_audited_ranges,
    points_at_record,
    transaction_type,
)
from spark_checks.tables.store_tables import open_log, open_table, open_units
from spec.store import batch_queue
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import LMQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC

_NOT_DISPATCHED = (RETRY_PREFIX, "rmq_sys_", "RMQ_SYS_", SCHEDULE_TOPIC)
"""Prefixes of topics that some release does not dispatch to LMQs."""
_QUEUE = ["queue", "queue_id"]
_BATCH = ("size", "tags_code", "stored_at_ms", "message_count")
"""Values that a record and its batch unit share, besides their place."""


def lmq_and_batch_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings in LMQs and batch consume queues."""
    store = surveyed.store
    of_lmqs = store.queue_files(topics=LMQ_PREFIX)
    of_batches = store.queue_files(batch_queue.BATCH_QUEUE)
    situation = surveyed.situation
    families = {name.rpartition("-")[0] for name in surveyed.requested}
    checks_lmqs = bool(of_lmqs) and "INV-LIGHT" in families
    checks_batches = bool(situation.batch_topics) and "INV-BATCH" in families
    if not checks_lmqs and not checks_batches:
        return []
    surveyed.progress("comparing LMQs and batch consume queues with their records")
    session = surveyed.session
    records = open_log(
        session,
        store,
        MultiDispatchSource,
        delays=situation.delays,
        batch_topics=json.dumps(sorted(situation.batch_topics)),
    )
    lmqs = open_units(session, store, of_lmqs)
    batches = open_table(session, store, BatchConsumeQueueSource, of_batches)
    parts = []
    if checks_lmqs:
        parts += [
            wrong_lmq_units(lmqs, records, situation),
            records_without_lmq_unit(lmqs, records, situation),
        ]
    if checks_batches:
        parts += [
            wrong_batch_units(batches, records, situation),
            records_without_batch_unit(batches, records),
        ]
    if checks_batches and not situation.has_queues_in_rocksdb:
        parts.append(records_without_batch_queue(batches, records, situation))
    with persisted(lmqs, batches, records):
        return run_checks(*parts)


def wrong_lmq_units(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the LMQ units without a matching record that names the LMQ.

    Units whose record names another queue offset in the LMQ are included.
    """
    code = F.expr(f"if(own_topic != '{SCHEDULE_TOPIC}', tags_code, null)")
    named = (
        records.where("kind = 'lmq'")
        .groupBy(
            F.col("offset").alias("commit_log_offset"),
            F.col("queue").alias("topic"),
            F.col("size").alias("record_size"),
            code.alias("record_code"),
        )
        .agg(F.collect_set("number").alias("numbers"))
    )
    rows = _expected_units(units, situation).join(
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


def records_without_lmq_unit(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the records without a unit in an LMQ that they name."""
    spared = F.lit(False)
    for begin in _NOT_DISPATCHED:
        spared |= F.col("own_topic").startswith(begin)
    units = units.selectExpr(
        *("topic AS queue", "queue_id"),
        *("queue_offset AS number", "commit_log_offset AS unit_at"),
    )
    records = (
        records.where("kind = 'lmq'")
        .where(counting_rules.is_decided(transaction_type()) & ~spared)
        .withColumn("queue_id", F.lit(0))
    )
    # Without enableLmq the LMQ's unit has the queue id of the record's own queue.
    pointed = units.selectExpr("queue", "unit_at AS offset")
    records = records.join(pointed, ["queue", "offset"], "left_anti")
    file_size = situation.queue_file_size
    base = f"floor(number * {UNIT_SIZE} / {file_size}) * {file_size}"
    return findings(
        _without_unit(records, units),
        Rule("INV-LIGHT-003"),
        file=f"consumequeue/{{queue}}/0/{{{base}:020d}}",
        offset=f"number * {UNIT_SIZE} - {base}",
        length=UNIT_SIZE,
    )


def wrong_batch_units(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the batch consume-queue units that do not match their record.

    Units without the last fields of a new unit are included.
    """
    batches = records.where("kind = 'batch'").selectExpr(
        *("offset AS commit_log_offset", "queue AS topic"),
        "own_queue_id AS record_queue_id",
        "number AS record_first_queue_offset",
        *(f"{name} AS record_{name}" for name in _BATCH),
    )
    names = (*_BATCH[:-1], "first_queue_offset", "queue_id")
    differs = " or ".join(f"{name} != record_{name}" for name in names)
    return findings(
        _expected_units(units, situation).join(
            batches, ["commit_log_offset", "topic"], "left"
        ),
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
        file=f"{batch_queue.BATCH_QUEUE}/{{topic}}/{{queue_id}}/{{file_base:020d}}",
        length=batch_queue.UNIT_SIZE,
    )


def records_without_batch_unit(units: DataFrame, records: DataFrame) -> DataFrame:
    """Return the records without a unit in their batch consume queue."""
    units = units.selectExpr(
        *("topic AS queue", "queue_id"),
        *("first_queue_offset AS number", "commit_log_offset AS unit_at"),
    )
    needed = _batches_that_need_a_unit(records)
    return record_findings(_without_unit(needed, units), Rule("INV-BATCH-003"))


def records_without_batch_queue(
    units: DataFrame, records: DataFrame, situation: Situation
) -> DataFrame:
    """Return the records whose batch consume queue has no unit.

    If all units of the topic point behind the record, the topic was created again
    later. If it has none, it may have been (:mod:`spec.store.earlier_topics`).
    """
    begins = units.groupBy("topic").agg(F.min("commit_log_offset").alias("first_at"))
    rows = (
        _batches_that_need_a_unit(records)
        .join(units.selectExpr("topic AS queue", "queue_id"), _QUEUE, "left_anti")
        .join(begins.withColumnRenamed("topic", "queue"), "queue", "left")
        .where("first_at is null or first_at < offset")
    )
    explained = F.col("queue").isin(*situation.topics_perhaps_created_again)
    is_explained = F.col("first_at").isNull() & explained
    return record_findings(
        rows.withColumn("is_explained", is_explained),
        Rule("INV-BATCH-003", "not is_explained"),
        Rule("INV-BATCH-005", "is_explained"),
    )


def _batches_that_need_a_unit(records: DataFrame) -> DataFrame:
    return (
        records.where("kind = 'batch'")
        .where(counting_rules.is_decided(transaction_type()))
        .withColumnRenamed("own_queue_id", "queue_id")
    )


def _expected_units(units: DataFrame, situation: Situation) -> DataFrame:
    """Return the *units* that must point at records of the audited ranges."""
    return into_audited_ranges(units.where(points_at_record(situation)), situation)


def _without_unit(records: DataFrame, units: DataFrame) -> DataFrame:
    """Return the *records* without a unit that points at them or has their offset.

    The unit before must point before them. Otherwise the queue was created again later.
    """
    places = units.select(*_QUEUE, "number")
    pointed = units.selectExpr(*_QUEUE, "unit_at AS offset")
    missing = records.join(places, [*_QUEUE, "number"], "left_anti").join(
        pointed, [*_QUEUE, "offset"], "left_anti"
    )
    return after_earlier_unit(missing, units, _QUEUE, "number")
