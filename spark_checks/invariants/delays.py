"""
What must be true between messages that wait for their time and what was delivered.

A level of delays is a queue, and delayOffset.json says how far each is delivered. What
waits in a timer wheel, since 5.0, is left alone.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.backstage import DELAYED_KEY, Backstage, number_of
from spark_checks.findings import Invariant
from spark_checks.invariants.rows import WARNING, record_finding, record_says
from spec.wire import delayed

EARLY_MAX_MS = 500
"""A clock that is put back by so much is not spoken of."""

DELIVERED = Invariant(
    id="INV-DELAY-001",
    title="A delayed message up to which its level is delivered is in its real queue",
    requirement=delayed.DELAYED_ARRIVES,
    cost="Nobody is ever given the message: its level has gone on behind it.",
)
DELIVERED_ONCE = Invariant(
    id="INV-DELAY-002",
    title="A delayed message is delivered once",
    requirement=delayed.DELAYED_IN_ORDER,
    cost="Consumers were given the message more than once, as after a crash.",
)
NOT_BEFORE_ITS_TIME = Invariant(
    id="INV-DELAY-003",
    title="No delayed message is delivered before it is due",
    requirement=delayed.DELAYED_ARRIVES,
    cost="Consumers were given the message too early.",
)


def never_delivered(stage: Backstage) -> DataFrame:
    """Return the delayed messages whose level has gone on without delivering them."""
    done = number_of(stage.delivered, F.col("queue_id"))
    arrived = stage.arrived.select(*DELAYED_KEY, "rank")
    rows = stage.waiting.where(
        (F.col("queue_offset") < done) & (F.col("due_ms") < stage.last_ms)
    ).join(arrived, [*DELAYED_KEY, "rank"], "left_anti")
    return record_finding(
        rows,
        severity=F.lit(stage.situation.tail_severity),
        expected=F.format_string("one in %s, queue %d", "to_topic", "to_queue"),
        found=F.lit("none"),
        message=F.format_string(
            "The delayed message at %d (%s) was due, its level is delivered up to %d,"
            " and it is not in queue %d of %s.",
            *(F.col("position"), _level(), done, F.col("to_queue"), F.col("to_topic")),
        ),
    )


def delivered_again(stage: Backstage) -> DataFrame:
    """Return what was delivered more often than it waited."""
    waited = stage.waiting.groupBy(*DELAYED_KEY).agg(
        F.max("rank").alias("waited"), F.min("offset").alias("waited_at")
    )
    rows = (
        stage.arrived.join(waited, [*DELAYED_KEY])
        .where(F.col("offset") > F.col("waited_at"))
        .where(F.col("rank") > F.col("waited"))
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.format_string("%d of it", "waited"),
        found=F.format_string("%d", "rank"),
        message=record_says("was delayed, and is delivered once more."),
    )


def delivered_early(stage: Backstage) -> DataFrame:
    """Return what was delivered before it was due."""
    due = stage.waiting.select(*DELAYED_KEY, "rank", "due_ms")
    rows = stage.arrived.join(due, [*DELAYED_KEY, "rank"]).where(
        F.col("stored_at_ms") + EARLY_MAX_MS < F.col("due_ms")
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.format_string("stored at %d or later", "due_ms"),
        found=F.format_string("stored at %d", "stored_at_ms"),
        message=record_says("was delayed, and is delivered before it was due."),
    )


def _level() -> Column:
    return F.format_string(
        "level %d, offset %d", F.col("queue_id") + 1, F.col("queue_offset")
    )
