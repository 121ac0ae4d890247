"""
Invariants between delayed messages and delivered ones.

A delay level is a queue of SCHEDULE_TOPIC_XXXX. delayOffset.json holds the delivered
offset of each. Messages in a timer wheel (since 5.0) are not checked.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import (
    WARNING,
    Rule,
    record_findings,
    record_message,
)
from spark_checks.tables.system_topics import DELAYED_KEY, SystemTopicTables, number_of
from spec.wire.message import delayed

EARLY_MAX_MS = 500
"""Deliveries early by up to this many milliseconds are not reported."""

DELIVERED = Invariant(
    id="INV-DELAY-001",
    title="A delayed message before its level's delivered offset is in its real queue",
    requirement=delayed.DELAYED_ARRIVES,
    cost="The message is never delivered, because its level has passed it.",
)
DELIVERED_ONCE = Invariant(
    id="INV-DELAY-002",
    title="A delayed message is delivered once",
    requirement=delayed.DELAYED_IN_ORDER,
    cost="Consumers received the message more than once, as after a crash.",
)
NOT_BEFORE_ITS_TIME = Invariant(
    id="INV-DELAY-003",
    title="No delayed message is delivered before it is due",
    requirement=delayed.DELAYED_ARRIVES,
    cost="Consumers received the message too early.",
)


def missing_deliveries(tables: SystemTopicTables) -> DataFrame:
    """Return the delayed messages that their level has passed without delivery."""
    done = number_of(tables.progress.delivered_offsets, F.col("queue_id"))
    delivered = tables.delivered.select(*DELAYED_KEY, "rank")
    rows = tables.delayed.where(
        (F.col("queue_offset") < done) & (F.col("due_ms") < tables.progress.last_ms)
    ).join(delivered, [*DELAYED_KEY, "rank"], "left_anti")
    return record_findings(
        rows,
        Rule(
            invariant=DELIVERED,
            severity=tables.situation.tail_severity,
            expected=F.format_string(
                "a message in %s, queue %d", "to_topic", "to_queue"
            ),
            found="none",
            message=F.format_string(
                "The delayed message at %d (%s) was due and its level is delivered up"
                " to %d, but the message is missing from queue %d of %s.",
                *("position", _level(), done, "to_queue", "to_topic"),
            ),
        ),
    )


def duplicate_deliveries(tables: SystemTopicTables) -> DataFrame:
    """Return the deliveries beyond the number of delayed messages."""
    waited = tables.delayed.groupBy(*DELAYED_KEY).agg(
        F.max("rank").alias("waited"), F.min("offset").alias("waited_at")
    )
    rows = (
        tables.delivered.join(waited, [*DELAYED_KEY])
        .where(F.col("offset") > F.col("waited_at"))
        .where(F.col("rank") > F.col("waited"))
    )
    return record_findings(
        rows,
        Rule(
            invariant=DELIVERED_ONCE,
            severity=WARNING,
            expected=F.format_string("%d deliveries", "waited"),
            found=F.format_string("delivery %d", "rank"),
            message=record_message("was delayed, and is delivered again."),
        ),
    )


def early_deliveries(tables: SystemTopicTables) -> DataFrame:
    """Return the deliveries before the due time."""
    due = tables.delayed.select(*DELAYED_KEY, "rank", "due_ms")
    rows = tables.delivered.join(due, [*DELAYED_KEY, "rank"]).where(
        F.col("stored_at_ms") + EARLY_MAX_MS < F.col("due_ms")
    )
    return record_findings(
        rows,
        Rule(
            invariant=NOT_BEFORE_ITS_TIME,
            severity=WARNING,
            expected=F.format_string("stored at %d or later", "due_ms"),
            found=F.format_string("stored at %d", "stored_at_ms"),
            message=record_message(
                "was delayed, and is delivered before its due time."
            ),
        ),
    )


def _level() -> Column:
    return F.format_string("level %d, offset %d", F.col("queue_id") + 1, "queue_offset")
