"""
What must be true between half messages, notes of their ends, and what was committed.

A half message lies in a topic of its own, for ever; a note in another says that it is
decided; a commit puts the message into its real topic and names its half. What the log
does not reach back to is not asked about.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.backstage import Backstage, number_of
from spark_checks.findings import Invariant
from spark_checks.invariants.rows import WARNING, record_finding, record_says
from spark_checks.tables import is_commit
from spec.store.message_record import SystemFlag
from spec.store.timer_log import TIMER_TOPIC
from spec.wire import transaction_checks, transactions
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.transaction_checks import GIVEN_UP_TOPIC
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC

CHECKS_TAKE_MS = 6_000 + 15 * 60_000
"""By default a broker has asked for the last time after so long."""
LATER_TOPICS = (SCHEDULE_TOPIC, TIMER_TOPIC)
"""Where a committed message waits that is delayed besides."""

NOTE_OF_HALF = Invariant(
    id="INV-TXN-001",
    title="A note names half messages that exist",
    requirement=transaction_checks.NOTE,
    cost="The half message that was meant counts as undecided: its producer is asked"
    " again, and may deliver it twice.",
)
COMMIT_OF_HALF = Invariant(
    id="INV-TXN-002",
    title="A committed message is its half message, in its real topic and queue",
    requirement=transactions.COMMIT,
    cost="Consumers were given something else than the producer prepared, or in"
    " another place.",
)
COMMIT_ONCE = Invariant(
    id="INV-TXN-003",
    title="A half message is committed at most once, and not after it was decided",
    requirement=transactions.COMMIT_TWICE,
    cost="Consumers were given the message twice, or one that was rolled back.",
)
DECIDED = Invariant(
    id="INV-TXN-004",
    title="No half message waits longer than a broker asks about it",
    requirement=transaction_checks.QUESTION,
    cost="Nobody gets these messages: their producers have not answered, or the broker"
    " does not ask.",
)


def notes_of_nothing(stage: Backstage) -> DataFrame:
    """Return the notes that name no half message, where the log would have it."""
    halves = _halves(stage).select(
        F.col("queue_id").alias("half_queue"),
        F.col("queue_offset").alias("number"),
        F.col("offset").alias("half_at"),
    )
    oldest = halves.groupBy("half_queue").agg(
        F.min_by("number", "half_at").alias("oldest")
    )
    same = (F.col("queue_id") == F.col("half_queue")) & (
        F.col("named") == F.col("number")
    )
    whole = stage.situation.min_offset == 0
    since = F.coalesce("oldest", F.lit(0) if whole else F.lit(None).cast("bigint"))
    unreadable = F.col("named").isNull()
    rows = (
        _named(stage)
        .join(halves, same & (F.col("half_at") < F.col("offset")), "left_anti")
        .join(F.broadcast(oldest), F.col("queue_id") == F.col("half_queue"), "left")
        .where(unreadable | (F.col("named") >= since))
        .dropDuplicates(["offset"])
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.lit("queue offsets of half messages"),
        found=F.col("text"),
        message=F.format_string(
            "The note at %d names half message %s of queue %d, which does not exist.",
            F.col("position"),
            F.col("text"),
            F.col("queue_id"),
        ),
    )


def commits_of_others(stage: Backstage) -> DataFrame:
    """Return what was committed and is not the half message that it names."""
    names = ("topic", "real_topic", "real_queue_id", "body_crc", "body_size")
    halves = _halves(stage).select(
        F.col("offset").alias("half_at"),
        *(F.col(name).alias(f"half_{name}") for name in names),
        F.col("queue_id").alias("half_queue"),
        F.col("unique_key").alias("half_key"),
    )
    old = F.col("half_topic") != HALF_TOPIC  # before 4.3 halves lay in their own topic
    topic = F.when(old, F.col("half_topic")).otherwise(F.col("half_real_topic"))
    queue = F.when(old, F.col("half_queue")).otherwise(F.col("half_real_queue_id"))
    waits = F.col("topic").isin(*LATER_TOPICS)
    own_topic = F.when(waits, F.col("real_topic")).otherwise(F.col("topic"))
    own_queue = F.when(waits, F.col("real_queue_id")).otherwise(F.col("queue_id"))
    same = (
        own_topic.eqNullSafe(topic)
        & own_queue.eqNullSafe(queue)
        & (F.col("body_crc") == F.col("half_body_crc"))
        & (F.col("body_size") == F.col("half_body_size"))
        & F.coalesce(F.col("unique_key") == F.col("half_key"), F.lit(True))
    )
    rows = (
        _commits(stage)
        .join(halves, F.col("prepared_transaction_offset") == F.col("half_at"), "left")
        .where(F.col("half_at").isNull() | ~same)
    )
    return record_finding(
        rows,
        expected=F.format_string(
            "the half message at commit-log offset %d, of this topic and queue",
            F.col("prepared_transaction_offset"),
        ),
        found=F.when(F.col("half_at").isNull(), F.lit("no half message there"))
        .when(
            own_topic.eqNullSafe(topic) & own_queue.eqNullSafe(queue),
            F.lit("another body or key"),
        )
        .otherwise(F.format_string("one of %s, queue %d", topic, queue)),
        message=record_says("is committed of a half message, and is not that."),
    )


def commits_too_many(stage: Backstage) -> DataFrame:
    """Return what was committed once more, or after its half message was decided."""
    halves = _halves(stage).select(
        F.col("offset").alias("half_at"),
        F.col("queue_id").alias("half_queue"),
        F.col("queue_offset").alias("number"),
    )
    decided = (
        _named(stage)
        .join(
            halves,
            (F.col("queue_id") == F.col("half_queue"))
            & (F.col("named") == F.col("number"))
            & (F.col("offset") > F.col("half_at")),
        )
        .groupBy("half_at")
        .agg(F.min("offset").alias("decided_at"))
    )
    of_half = Window.partitionBy("prepared_transaction_offset").orderBy("offset")
    rows = (
        _commits(stage)
        .withColumn("rank", F.row_number().over(of_half))
        .join(decided, F.col("prepared_transaction_offset") == F.col("half_at"), "left")
        .where((F.col("rank") > 1) | (F.col("offset") > F.col("decided_at")))
    )
    again = F.col("rank") > 1
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.lit("one commit, and that before the note"),
        found=F.when(again, F.format_string("commit %d", F.col("rank"))).otherwise(
            F.lit("a commit after the note")
        ),
        message=record_says(
            "is committed although its half message was decided before."
        ),
    )


def halves_waiting(stage: Backstage) -> DataFrame:
    """Return the first half message of each queue that waits too long; they count."""
    at = F.col("half_at")
    same = (F.col("named") == F.col("queue_offset")) & (
        F.col("note_queue") == F.col("queue_id")
    )
    notes = _named(stage).select(
        "named", F.col("queue_id").alias("note_queue"), F.col("offset").alias("note_at")
    )
    later = (
        stage.records.where(F.col("topic").isin(HALF_TOPIC, GIVEN_UP_TOPIC))
        .where(F.col("unique_key").isNotNull())
        .groupBy(F.col("unique_key").alias("later_key"))
        .agg(F.max("offset").alias("later_at"))
    )
    commits = _commits(stage).select(F.col("prepared_transaction_offset").alias("of"))
    looked = F.coalesce(number_of(stage.looked, F.col("queue_id")), F.lit(0))
    rows = (
        stage.of(HALF_TOPIC)
        .withColumnRenamed("offset", "half_at")
        .where(F.col("queue_offset") >= looked)
        .where(F.col("stored_at_ms") + CHECKS_TAKE_MS < stage.last_ms)
        .join(notes, same & (F.col("note_at") > at), "left_anti")
        .join(
            later,
            (F.col("later_key") == F.col("unique_key")) & (F.col("later_at") > at),
            "left_anti",
        )
        .join(commits, F.col("of") == at, "left_anti")
        .groupBy("queue_id")
        .agg(
            F.count(F.lit(1)).alias("halves"),
            *(F.min_by(name, at).alias(name) for name in _PLACE),
        )
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.format_string("a note within %d ms", F.lit(CHECKS_TAKE_MS)),
        found=F.format_string("%d half messages without", F.col("halves")),
        message=F.format_string(
            "%d half messages are undecided and old; the first is at %d (offset %d).",
            F.col("halves"),
            F.col("position"),
            F.col("queue_offset"),
        ),
    )


_PLACE = ("file_base", "position", "size", "queue_offset")


def _halves(stage: Backstage) -> DataFrame:
    bits = F.col("system_flags").bitwiseAND(int(SystemFlag.TRANSACTION_ROLLBACK))
    prepared = bits == int(SystemFlag.TRANSACTION_PREPARED)
    return stage.records.where((F.col("topic") == HALF_TOPIC) | prepared)


def _commits(stage: Backstage) -> DataFrame:
    """Return what was committed of half messages that the log still has."""
    half_at = F.col("prepared_transaction_offset")
    return stage.records.where(
        is_commit() & (half_at > 0) & (half_at >= stage.situation.min_offset)
    )


def _named(stage: Backstage) -> DataFrame:
    """Return the notes, a row for every half message that each names."""
    pieces = F.split(F.regexp_replace("note", ",$", ""), ",")
    return (
        stage.of(OPERATIONS_TOPIC)
        .withColumn("text", F.explode(pieces))
        .withColumn(
            "named",
            F.when(F.col("text").rlike("^[0-9]{1,18}$"), F.col("text").cast("bigint")),
        )
    )
