"""
Invariants between half messages, op messages and committed messages.

A half message stays in RMQ_SYS_TRANS_HALF_TOPIC. An op message marks it as decided. A
commit puts the message into its real topic, with the half message's offset. Half
messages before the log's begin are not checked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks import counting_rules
from spark_checks.counting_rules import LATER_TOPICS, OP_DIGITS_MAX
from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import (
    WARNING,
    Rule,
    record_findings,
    record_message,
)
from spark_checks.tables.predicates import is_commit, transaction_type
from spark_checks.tables.system_topics import SystemTopicTables, number_of
from spec.wire.message import transaction_checks, transactions
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
)

CHECKS_END_MS = 6_000 + 15 * 60_000
"""Time until a broker's last transaction check, by default."""

OP_NAMES_HALF = Invariant(
    id="INV-TXN-001",
    title="An op message names existing half messages",
    requirement=transaction_checks.NOTE,
    cost="The half message counts as undecided. Its producer is checked again, and the"
    " message may be delivered twice.",
)
COMMIT_OF_HALF = Invariant(
    id="INV-TXN-002",
    title="A committed message equals its half message, in its real topic and queue",
    requirement=transactions.COMMIT,
    cost="Consumers received another message than the producer prepared, or in another"
    " queue.",
)
COMMIT_ONCE = Invariant(
    id="INV-TXN-003",
    title="A half message is committed at most once, and not after its op message",
    requirement=transactions.COMMIT_TWICE,
    cost="Consumers received the message twice, or one that was rolled back.",
)
DECIDED = Invariant(
    id="INV-TXN-004",
    title="No half message is undecided after the last transaction check",
    requirement=transaction_checks.QUESTION,
    cost="Consumers never receive these messages: producers have not responded, or the"
    " broker does not check.",
)


def ops_without_half(tables: SystemTopicTables) -> DataFrame:
    """Return the op messages whose half message is missing from the log."""
    halves = _halves(tables).select(
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
    whole = tables.situation.min_offset == 0
    since = F.coalesce("oldest", F.lit(0) if whole else F.lit(None).cast("bigint"))
    unreadable = F.col("named").isNull()
    rows = (
        _half_messages_named(tables)
        .join(halves, same & (F.col("half_at") < F.col("offset")), "left_anti")
        .join(F.broadcast(oldest), F.col("queue_id") == F.col("half_queue"), "left")
        .where(unreadable | (F.col("named") >= since))
        .dropDuplicates(["offset"])
    )
    return record_findings(
        rows,
        Rule(
            invariant=OP_NAMES_HALF,
            severity=WARNING,
            expected="queue offsets of half messages",
            found=F.col("text"),
            message=F.format_string(
                "The op message at %d names half message %s of queue %d, which is"
                " missing.",
                *("position", "text", "queue_id"),
            ),
        ),
    )


def commits_unlike_half(tables: SystemTopicTables) -> DataFrame:
    """Return the commits that differ from the half message that they name."""
    names = ("topic", "real_topic", "real_queue_id", "body_crc", "body_size")
    halves = _halves(tables).select(
        F.col("offset").alias("half_at"),
        *(F.col(name).alias(f"half_{name}") for name in names),
        F.col("queue_id").alias("half_queue"),
        F.col("unique_key").alias("half_key"),
    )
    old = F.col("half_topic") != HALF_TOPIC  # before 4.3: in their real topic
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
        _commits(tables)
        .join(halves, F.col("prepared_transaction_offset") == F.col("half_at"), "left")
        .where(F.col("half_at").isNull() | ~same)
    )
    return record_findings(
        rows,
        Rule(
            invariant=COMMIT_OF_HALF,
            expected=F.format_string(
                "the half message at commit-log offset %d, of this topic and queue",
                "prepared_transaction_offset",
            ),
            found=F.when(F.col("half_at").isNull(), F.lit("no half message"))
            .when(
                own_topic.eqNullSafe(topic) & own_queue.eqNullSafe(queue),
                F.lit("another body or key"),
            )
            .otherwise(F.format_string("a half message of %s, queue %d", topic, queue)),
            message=record_message("is a commit, and differs from its half message."),
        ),
    )


def duplicate_commits(tables: SystemTopicTables) -> DataFrame:
    """Return the second commits of half messages, and those after the decision."""
    halves = _halves(tables).select(
        F.col("offset").alias("half_at"),
        F.col("queue_id").alias("half_queue"),
        F.col("queue_offset").alias("number"),
    )
    decided = (
        _half_messages_named(tables)
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
        _commits(tables)
        .withColumn("rank", F.row_number().over(of_half))
        .join(decided, F.col("prepared_transaction_offset") == F.col("half_at"), "left")
        .where((F.col("rank") > 1) | (F.col("offset") > F.col("decided_at")))
    )
    again = F.col("rank") > 1
    return record_findings(
        rows,
        Rule(
            invariant=COMMIT_ONCE,
            severity=WARNING,
            expected="one commit, before the op message",
            found=F.when(again, F.format_string("commit %d", "rank")).otherwise(
                F.lit("a commit after the op message")
            ),
            message=record_message(
                "is a commit of a half message that was decided before."
            ),
        ),
    )


def undecided_halves(tables: SystemTopicTables) -> DataFrame:
    """Return the first overdue half message of each queue, with their number."""
    at = F.col("half_at")
    same = (F.col("named") == F.col("queue_offset")) & (
        F.col("op_queue") == F.col("queue_id")
    )
    ops = _half_messages_named(tables).select(
        "named", F.col("queue_id").alias("op_queue"), F.col("offset").alias("op_at")
    )
    later = (
        tables.records.where(
            F.col("topic").isin(HALF_TOPIC, TRANS_CHECK_MAX_TIME_TOPIC)
        )
        .where(F.col("unique_key").isNotNull())
        .groupBy(F.col("unique_key").alias("later_key"))
        .agg(F.max("offset").alias("later_at"))
    )
    commits = _commits(tables).select(F.col("prepared_transaction_offset").alias("of"))
    looked = F.coalesce(
        number_of(tables.progress.checked_offsets, F.col("queue_id")), F.lit(0)
    )
    rows = (
        tables.of(HALF_TOPIC)
        .withColumnRenamed("offset", "half_at")
        .where(F.col("queue_offset") >= looked)
        .where(F.col("stored_at_ms") + CHECKS_END_MS < tables.progress.last_ms)
        .join(ops, same & (F.col("op_at") > at), "left_anti")
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
    return record_findings(
        rows,
        Rule(
            invariant=DECIDED,
            severity=WARNING,
            expected=F.format_string(
                "an op message within %d ms", F.lit(CHECKS_END_MS)
            ),
            found=F.format_string("half messages without one: %d", "halves"),
            message=F.format_string(
                "Overdue and undecided half messages: %d. The first is at %d (offset"
                " %d).",
                *("halves", "position", "queue_offset"),
            ),
        ),
    )


_PLACE = ("file_base", "position", "size", "queue_offset")


def _halves(tables: SystemTopicTables) -> DataFrame:
    is_prepared = counting_rules.is_half(transaction_type())
    return tables.records.where((F.col("topic") == HALF_TOPIC) | is_prepared)


def _commits(tables: SystemTopicTables) -> DataFrame:
    """Return the commits whose half message is still in the log."""
    half_at = F.col("prepared_transaction_offset")
    return tables.records.where(
        is_commit() & (half_at > 0) & (half_at >= tables.situation.min_offset)
    )


def _half_messages_named(tables: SystemTopicTables) -> DataFrame:
    """Return one row per half message that an op message names."""
    is_number = F.col("text").rlike(f"^[0-9]{{1,{OP_DIGITS_MAX}}}$")
    pieces = F.split(F.regexp_replace("op_body", ",$", ""), ",")
    return (
        tables.of(OP_TOPIC)
        .withColumn("text", F.explode(pieces))
        .withColumn(
            "named",
            F.when(is_number, F.col("text").cast("bigint")),
        )
    )
