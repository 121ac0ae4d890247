"""Invariants between consume queues and commit log, in both directions."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.invariants.records import of_known_topics, places_with_incarnations
from spark_checks.invariants.shared_queues import without_shared_places
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import (
    ERROR,
    QUEUE_FILE,
    UNFINISHED,
    Rule,
    findings,
    severity_behind,
    unit_findings,
)
from spark_checks.tables.predicates import (
    QUEUE_PART,
    after_earlier_unit,
    into_audited_ranges,
    is_record,
    needs_record,
)
from spark_checks.tables.store_tables import Tables
from spec.integers import INT32_MAX
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.wire.message.topic_names import LMQ_PREFIX, SCHEDULE_TOPIC, UNLISTED_BEGINS

DELAY_MAX_MS = 7_300 * 86_400_000
"""Longest delay that is accepted as configured: 20 years.

A record whose store time is lost shows a longer one, since 1970."""

_OWN_PLACE = " and ".join(
    f"{name} = record_{name}" for name in ("topic", "queue_id", "queue_offset")
)
OWN_UNIT = f"({_OWN_PLACE})"
"""Condition of a unit with the place of the record that it points at."""


def wrong_units(tables: Tables) -> DataFrame:
    """Return the units that point at no record, or have another size or place."""
    rows = _with_records_or_null(tables)
    if tables.shared is not None:
        rows = without_shared_places(rows.where(f"not {OWN_UNIT}"), tables.shared)
    situation = tables.situation
    where = (
        f"if(commit_log_offset >= {situation.log_end}, 'behind the end of the log',"
        " 'where no record begins')"
    )
    return unit_findings(
        rows,
        Rule(
            "INV-CQ-001",
            "record_size is null",
            severity_behind("commit_log_offset", situation),
            {"where": where},
        ),
        Rule("INV-CQ-002", "size != record_size"),
        Rule("INV-CQ-004", f"not {OWN_UNIT}"),
    )


def wrong_tags_codes(tables: Tables) -> DataFrame:
    """Return the units whose tags code differs from their record's."""
    rows = with_records(tables).where(
        f"{OWN_UNIT} and tags_code != record_tags_code"
        f" and tags_code > {EXTENSION_ADDRESS_MAX}"
    )
    if not tables.situation.delays_are_known:
        rows = _without_configured_delays(rows)
    return unit_findings(rows, Rule("INV-CQ-003"))


def records_without_unit(tables: Tables) -> DataFrame:
    """Return the records without a unit, as runs of missing units.

    At the end of a queue the dispatch may be pending. A topic without queues or
    configuration was deleted, and its records need no units. Neither do records of a
    queue without units, if another queue shows that the topic was created again later.
    Without such a queue it may have been (:mod:`spec.store.earlier_topics`).
    """
    situation = tables.situation
    places = tables.units.select("topic", "queue_id", "queue_offset")
    ends = places.groupBy("topic", "queue_id").agg(
        F.min("queue_offset").alias("first_unit"),
        F.max("queue_offset").alias("last_unit"),
    )
    # Multi-dispatch is a setting of the broker, so a shared record without a unit is
    # reported only between other units.
    missing = (
        _places_needing_unit(tables)
        .join(places, ["topic", "queue_id", "queue_offset"], "left_anti")
        .join(ends, ["topic", "queue_id"], "left")
        .where("not is_shared or queue_offset between first_unit and last_unit")
    )
    if situation.is_sampled:
        known = tables.units.where(f"size != {INT32_MAX}").select(
            *places.columns, F.col("commit_log_offset").alias("unit_at")
        )
        queue = ("topic", "queue_id")
        missing = after_earlier_unit(missing, known, queue, "queue_offset")
    missing = _without_earlier_topics(missing, tables)
    runs = _runs(missing, situation.queue_file_size // UNIT_SIZE)
    return findings(
        of_known_topics(runs, situation).withColumn(
            "is_explained", _is_explained(situation)
        ),
        Rule(
            "INV-CQ-005",
            "not is_explained",
            severity=f"{{if(first > coalesce(last_unit, -1),"
            f" '{UNFINISHED}', '{ERROR}')}}",
        ),
        Rule("INV-CQ-007", "is_explained"),
        file=QUEUE_FILE,
        offset=f"first * {UNIT_SIZE} - file_base",
        length=f"units * {UNIT_SIZE}",
    )


def _is_explained(situation: Situation) -> Column:
    """Whether a deletion of the topic explains its records without a unit."""
    topic = F.col("topic")
    found: Column = topic.isin(*situation.topics_perhaps_created_again)
    if situation.only_topics_with_queues:
        is_gone = ~topic.isin(*situation.only_topics_with_queues)
        for begin in UNLISTED_BEGINS:
            is_gone &= ~topic.startswith(begin)
        found |= is_gone
    return found


def holes(tables: Tables) -> DataFrame:
    """Return the holes before units of deleted records."""
    part = Window.partitionBy(*QUEUE_PART).orderBy("queue_offset")
    before = F.lag("queue_offset").over(part)
    rows = tables.units.withColumn("missing", F.col("queue_offset") - before - 1).where(
        f"missing > 0 and commit_log_offset < {tables.situation.min_offset}"
    )
    length = f"least(missing * {UNIT_SIZE}, position)"
    return findings(
        rows,
        Rule("INV-CQ-006"),
        file=QUEUE_FILE,
        offset=f"position - {length}",
        length=length,
    )


def with_records(tables: Tables) -> DataFrame:
    """Return the units joined with the record that each points at."""
    return _joined(tables.units.where(needs_record(tables.situation)), tables, "inner")


def _with_records_or_null(tables: Tables) -> DataFrame:
    """Return the rows of :func:`with_records`, and units that need a record in vain."""
    expected = _joined(expected_units(tables), tables, "left")
    if tables.situation.parts is None:
        return expected
    return with_records(tables).unionByName(expected.where("record_size is null"))


def _joined(units: DataFrame, tables: Tables, how: str) -> DataFrame:
    names = (
        *("size", "topic", "queue_id", "queue_offset", "tags_code"),
        "stored_at_ms",
    )
    records = tables.log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"),
        *(F.col(name).alias(f"record_{name}") for name in names),
    )
    return units.join(records, "commit_log_offset", how)


def expected_units(tables: Tables) -> DataFrame:
    """Return the units that must point at records of the audited ranges."""
    units = tables.units.where(needs_record(tables.situation))
    return into_audited_ranges(units, tables.situation)


def _without_configured_delays(rows: DataFrame) -> DataFrame:
    """Return *rows* without the units that only show another configured delay.

    A delay is in whole seconds, which that of a damaged time hardly ever is. A broker
    that starts with another messageDelayLevel changes it within a queue.
    """
    delay = "tags_code - record_stored_at_ms"
    return rows.where(
        f"not (topic = '{SCHEDULE_TOPIC}' and ({delay}) % 1000 = 0"
        f" and {delay} between 0 and {DELAY_MAX_MS})"
    )


def _places_needing_unit(tables: Tables) -> DataFrame:
    """Return the places that need a unit, in the last incarnation of their queue.

    A sample may not contain an incarnation's begin, so all its places are returned.
    """
    is_of_lmq = F.col("topic").startswith(LMQ_PREFIX)
    incarnations = places_with_incarnations(tables).where(~is_of_lmq)
    if tables.situation.is_sampled:
        return incarnations
    queue = Window.partitionBy("topic", "queue_id")
    last = F.max("incarnation").over(queue)
    return incarnations.withColumn("last_incarnation", last).where(
        "incarnation = last_incarnation"
    )


def _without_earlier_topics(missing: DataFrame, tables: Tables) -> DataFrame:
    """Return *missing* without the records of topics that were created again later.

    A deletion destroys all queues of a topic. A queue that gets messages afterwards
    counts from 0 again, and one without a message has no file (4.6.0
    store.DefaultMessageStore#cleanUnusedTopic).
    """
    queue = Window.partitionBy("topic", "queue_id")
    before = F.lag("offset").over(queue.orderBy("offset"))
    created_again = (
        places_with_incarnations(tables)
        .where("not is_shared")
        .withColumn("before", before)
        .where("queue_offset = 0 and before is not null")
        .groupBy("topic")
        .agg(F.max("offset").alias("created_at"))
    )
    return (
        missing.withColumn("queue_end", F.max("offset").over(queue))
        .join(F.broadcast(created_again), "topic", "left")
        .where("last_unit is not null or queue_end >= coalesce(created_at, 0)")
    )


def _runs(missing: DataFrame, units_per_file: int) -> DataFrame:
    """Return runs of adjacent missing units, none longer than a file."""
    queue = Window.partitionBy("topic", "queue_id").orderBy("queue_offset")
    base = f"floor(queue_offset / {units_per_file}) * {units_per_file * UNIT_SIZE}"
    return (
        missing.withColumn("run", F.col("queue_offset") - F.row_number().over(queue))
        .withColumn("file_base", F.expr(base))
        .groupBy("topic", "queue_id", "last_unit", "run", "file_base")
        .agg(
            F.min("queue_offset").alias("first"),
            F.count(F.lit(1)).alias("units"),
            F.min("offset").alias("begin"),
            F.max("offset").alias("end"),
        )
    )
