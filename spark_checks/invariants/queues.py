"""
Invariants between consume queues and commit log, in both directions.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.records import places_with_incarnations
from spark_checks.invariants.shared_queues import without_shared_places
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import ERROR, Rule, findings, unit_findings
from spark_checks.tables.predicates import (
    after_earlier_unit,
    is_record,
    needs_record,
    queue_file,
    within,
)
from spark_checks.tables.store_tables import Tables
from spec.integers import INT32_MAX, INT64_MIN
from spec.store import consume_queue
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.wire.message.topic_names import LMQ_PREFIX, SCHEDULE_TOPIC

_NO = (INT64_MIN, 0)
"""Offset range that never contains a record."""
DELAY_MAX_MS = 7_300 * 86_400_000
"""Longest delay that is accepted as configured: 20 years.

A record whose store time is lost shows a longer one, since 1970."""

POINTS_AT_RECORD = Invariant(
    id="INV-CQ-001",
    title="A unit points at the begin of a record",
    requirement=consume_queue.UNIT_POINTS_AT_ITS_RECORD,
    cost="Consumers cannot receive this message. A pull that reaches it stalls, or its"
    " batch of up to 32 messages is lost or has garbage.",
)
SIZE = Invariant(
    id="INV-CQ-002",
    title="A unit has the size of its record",
    requirement=consume_queue.UNIT_POINTS_AT_ITS_RECORD,
    cost="Consumers receive a truncated message, or one with bytes of the next.",
)
TAGS_CODE = Invariant(
    id="INV-CQ-003",
    title="A unit has the tags code of its record",
    requirement=consume_queue.UNIT_TAGS_CODE,
    cost="Consumers that subscribe to tags miss the message. A delayed message is"
    " delivered at the wrong time.",
)
PLACE = Invariant(
    id="INV-CQ-004",
    title="A unit points at the record of its own queue and queue offset",
    requirement=consume_queue.UNIT_POINTS_AT_ITS_RECORD,
    cost="Consumers receive another message than the one stored at this queue offset.",
)
EVERY_RECORD = Invariant(
    id="INV-CQ-005",
    title="Every record has a unit",
    requirement=consume_queue.UNIT_EVERY_MESSAGE,
    cost="Consumers never receive these messages unless the queue is rebuilt.",
)
NO_HOLES = Invariant(
    id="INV-CQ-006",
    title="The units of a queue have no gap",
    requirement=consume_queue.UNIT_ZEROS,
    cost="A recovering broker takes the gap for the queue's end.",
)
_UNIT_PLACE = ("queue_offset", "queue_id", "topic")


def wrong_units(tables: Tables) -> DataFrame:
    """Return the units that point at no record, or have another size or place."""
    rows = _with_records_or_null(tables)
    if tables.shared is not None:
        rows = without_shared_places(rows.where(~is_own_unit()), tables.shared)
    situation = tables.situation
    ahead = F.col("commit_log_offset") >= situation.log_end
    of_record = _place("record_topic", "record_queue_id", "record_queue_offset")
    return unit_findings(
        rows,
        Rule(
            invariant=POINTS_AT_RECORD,
            is_broken=F.col("record_size").isNull(),
            severity=F.when(ahead, situation.tail_severity).otherwise(ERROR),
            expected="the commit-log offset of a record",
            found=F.col("commit_log_offset").cast("string"),
            message=F.format_string(
                "Unit %d of queue %d of %s points at commit-log offset %d, %s.",
                *_UNIT_PLACE,
                "commit_log_offset",
                F.when(ahead, "behind the end of the log").otherwise(
                    "where no record begins"
                ),
            ),
        ),
        Rule(
            invariant=SIZE,
            is_broken=F.col("size") != F.col("record_size"),
            expected=F.col("record_size").cast("string"),
            found=F.col("size").cast("string"),
            message=F.format_string(
                "Unit %d of queue %d of %s has size %d, its record %d.",
                *(*_UNIT_PLACE, "size", "record_size"),
            ),
        ),
        Rule(
            invariant=PLACE,
            is_broken=~is_own_unit(),
            expected=_place("topic", "queue_id", "queue_offset"),
            found=of_record,
            message=F.format_string(
                "Unit %d of queue %d of %s points at the record of %s.",
                *_UNIT_PLACE,
                of_record,
            ),
        ),
    )


def wrong_tags_codes(tables: Tables) -> DataFrame:
    """Return the units whose tags code differs from their record's."""
    rows = with_records(tables).where(
        is_own_unit()
        & (F.col("tags_code") != F.col("record_tags_code"))
        & (F.col("tags_code") > EXTENSION_ADDRESS_MAX)
    )
    if not tables.situation.delays_are_known:
        rows = _without_configured_delays(rows, tables.situation)
    return unit_findings(
        rows,
        Rule(
            invariant=TAGS_CODE,
            expected=F.col("record_tags_code").cast("string"),
            found=F.col("tags_code").cast("string"),
            message=F.format_string(
                "Unit %d of queue %d of %s has another tags code than its record's"
                " properties give.",
                *_UNIT_PLACE,
            ),
        ),
    )


def records_without_unit(tables: Tables) -> DataFrame:
    """Return the records without a unit, as runs of missing units.

    At the end of a queue the dispatch may be pending. A topic without queues or
    configuration was deleted, and its records need no units.
    """
    situation = tables.situation
    # Multi-dispatch is a setting of the broker, so a shared record without a unit is
    # reported only between other units.
    is_amid = F.col("queue_offset").between(F.col("first_unit"), F.col("last_unit"))
    places = tables.units.select("topic", "queue_id", "queue_offset")
    ends = places.groupBy("topic", "queue_id").agg(
        F.min("queue_offset").alias("first_unit"),
        F.max("queue_offset").alias("last_unit"),
    )
    missing = (
        _places_needing_unit(tables)
        .join(places, ["topic", "queue_id", "queue_offset"], "left_anti")
        .join(ends, ["topic", "queue_id"], "left")
        .where(~F.col("is_shared") | is_amid)
    )
    if situation.is_sampled:
        known = tables.units.where(F.col("size") != INT32_MAX).select(
            *places.columns, F.col("commit_log_offset").alias("unit_at")
        )
        queue = ("topic", "queue_id")
        missing = after_earlier_unit(missing, known, queue, "queue_offset")
    runs = _runs(missing, situation.queue_file_size // UNIT_SIZE)
    behind = F.col("first") > F.coalesce("last_unit", F.lit(-1))
    severity = F.when(behind, situation.tail_severity).otherwise(ERROR)
    if situation.known_topics is not None:
        runs = runs.where(F.col("topic").isin(*situation.known_topics, ""))
    return findings(
        runs,
        Rule(
            invariant=EVERY_RECORD,
            severity=severity,
            expected=F.format_string(
                "units of the records from commit-log offset %d to %d", "begin", "end"
            ),
            found="zeros, or no file",
            message=F.format_string(
                "%d records of queue %d of %s, from queue offset %d, have no unit.",
                *("units", "queue_id", "topic", "first"),
            ),
        ),
        file=queue_file(),
        offset=F.col("first") * UNIT_SIZE - F.col("file_base"),
        length=F.col("units") * UNIT_SIZE,
    )


def holes(tables: Tables) -> DataFrame:
    """Return the holes before units of deleted records."""
    queue = Window.partitionBy("topic", "queue_id").orderBy("queue_offset")
    rows = (
        tables.units.withColumn("before", F.lag("queue_offset").over(queue))
        .withColumn("missing", F.col("queue_offset") - F.col("before") - 1)
        .where(
            (F.col("missing") > 0)
            & (F.col("commit_log_offset") < tables.situation.min_offset)
        )
    )
    length = F.least(F.col("missing") * UNIT_SIZE, F.col("position"))
    return findings(
        rows,
        Rule(
            invariant=NO_HOLES,
            expected="units",
            found="zeros, or no file",
            message=F.format_string(
                "Before unit %d of queue %d of %s, %d units are missing.",
                *_UNIT_PLACE,
                "missing",
            ),
        ),
        file=queue_file(),
        offset=F.col("position") - length,
        length=length,
    )


def with_records(tables: Tables) -> DataFrame:
    """Return the units joined with the record that each points at."""
    return _joined(tables.units.where(needs_record(tables.situation)), tables, "inner")


def _with_records_or_null(tables: Tables) -> DataFrame:
    """Return the rows of :func:`with_records`, and units that need a record in vain."""
    if tables.situation.parts is None:
        return _joined(expected_units(tables), tables, "left")
    expected = _joined(expected_units(tables), tables, "left")
    without = expected.where(F.col("record_size").isNull())
    return with_records(tables).unionByName(without)


def _joined(units: DataFrame, tables: Tables, how: str) -> DataFrame:
    records = tables.log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"),
        *(
            F.col(name).alias(f"record_{name}")
            for name in ("size", "topic", "queue_id", "queue_offset", "tags_code")
        ),
        F.col("stored_at_ms").alias("record_stored_at_ms"),
    )
    return units.join(records, "commit_log_offset", how)


def expected_units(tables: Tables) -> DataFrame:
    """Return the units that must point at records of the audited ranges."""
    rows = tables.units.where(needs_record(tables.situation))
    parts = tables.situation.parts
    return rows if parts is None else within(rows, "commit_log_offset", [_NO, *parts])


def _without_configured_delays(rows: DataFrame, situation: Situation) -> DataFrame:
    """Return *rows* without the units that only show another configured delay.

    A delay level is a queue. All its units have the same delay, in whole seconds, which
    a damaged time hardly ever is. A sample may hold too few units to decide.
    """
    if situation.is_sampled:
        return rows.where(F.col("topic") != SCHEDULE_TOPIC)
    delay = F.col("tags_code") - F.col("record_stored_at_ms")
    delays = rows.groupBy("topic", "queue_id").agg(
        F.mode(delay, True).alias("level_ms")
    )
    configured = (
        (F.col("topic") == SCHEDULE_TOPIC)
        & (delay == F.col("level_ms"))
        & (delay % 1000 == 0)
        & delay.between(0, DELAY_MAX_MS)
    )
    return rows.join(F.broadcast(delays), ["topic", "queue_id"]).where(~configured)


def is_own_unit() -> Column:
    """Whether the record that a unit points at has the unit's place."""
    return (
        (F.col("topic") == F.col("record_topic"))
        & (F.col("queue_id") == F.col("record_queue_id"))
        & (F.col("queue_offset") == F.col("record_queue_offset"))
    )


def _places_needing_unit(tables: Tables) -> DataFrame:
    """Return the places that need a unit, in the last incarnation of their queue.

    A sample may not contain an incarnation's begin, so all its places are returned.
    """
    begins_light = F.col("topic").startswith(LMQ_PREFIX)
    incarnations = places_with_incarnations(tables).where(~begins_light)
    if tables.situation.is_sampled:
        return incarnations
    queue = Window.partitionBy("topic", "queue_id")
    return incarnations.withColumn(
        "last_incarnation", F.max("incarnation").over(queue)
    ).where(F.col("incarnation") == F.col("last_incarnation"))


def _runs(missing: DataFrame, units_per_file: int) -> DataFrame:
    """Return runs of adjacent missing units, none longer than a file."""
    queue = Window.partitionBy("topic", "queue_id").orderBy("queue_offset")
    base = F.floor(F.col("queue_offset") / units_per_file) * units_per_file * UNIT_SIZE
    return (
        missing.withColumn("run", F.col("queue_offset") - F.row_number().over(queue))
        .withColumn("file_base", base)
        .groupBy("topic", "queue_id", "last_unit", "run", "file_base")
        .agg(
            F.min("queue_offset").alias("first"),
            F.count(F.lit(1)).alias("units"),
            F.min("offset").alias("begin"),
            F.max("offset").alias("end"),
        )
    )


def _place(topic: str, queue_id: str, queue_offset: str) -> Column:
    return F.format_string("%s, queue %d, offset %d", *(topic, queue_id, queue_offset))
