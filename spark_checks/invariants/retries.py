"""
Invariants of retries and dead letters.

A producer may send to such a topic directly, without the properties. Only messages with
a mark of CONSUMER_SEND_MSG_BACK are checked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.counting_rules import ID_SIZES, lacks_origin, lacks_topic
from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import (
    WARNING,
    Rule,
    record_findings,
    record_message,
)
from spark_checks.tables.system_topics import SystemTopicTables
from spec.wire.consumer import groups
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX

NAMES_ORIGIN = Invariant(
    id="INV-RETRY-001",
    title="A retry names its topic and first message id, and has a delivery count",
    requirement=groups.SEND_BACK_ORIGIN,
    cost="Its consumer receives it under the wrong topic, or without end.",
)
DEAD_LETTER_NAMES_TOPIC = Invariant(
    id="INV-RETRY-002",
    title="A dead letter names its original topic",
    requirement=groups.DEAD_LETTER,
    cost="The origin of the dead letter is unknown, so it cannot be sent again.",
)
_ID = "^(" + "|".join(f"[0-9A-Fa-f]{{{size}}}" for size in ID_SIZES) + ")$"
"""Message id with an IPv4 or an IPv6 host, or a unique key."""


def retries_without_origin(tables: SystemTopicTables) -> DataFrame:
    """Return the retries that do not name topic, id and deliveries."""
    names_topic = F.col("retry_topic").isNotNull()
    is_id = F.coalesce(F.col("origin_id").rlike(_ID), F.lit(False))
    rows = tables.records.where(
        F.col("topic").startswith(RETRY_PREFIX)
        & (F.col("real_topic") == F.col("topic"))
        & F.col("popped_at").isNull()
        & (names_topic | F.col("origin_id").isNotNull())
        & lacks_origin(names_topic, is_id, F.col("reconsume_times"))
    )
    return record_findings(
        rows,
        Rule(
            invariant=NAMES_ORIGIN,
            severity=WARNING,
            expected="RETRY_TOPIC, an id in ORIGIN_MESSAGE_ID, and a delivery",
            found=F.concat_ws(
                ", ",
                F.coalesce("retry_topic", F.lit("no topic")),
                F.coalesce("origin_id", F.lit("no id")),
                F.format_string("%d deliveries", "reconsume_times"),
            ),
            message=record_message("was sent back, and does not name its origin."),
        ),
    )


def dead_letters_without_topic(tables: SystemTopicTables) -> DataFrame:
    """Return the dead letters without RETRY_TOPIC."""
    rows = tables.records.where(
        F.col("topic").startswith(DLQ_PREFIX)
        & lacks_topic(F.col("retry_topic").isNotNull(), F.col("reconsume_times"))
    )
    return record_findings(
        rows,
        Rule(
            invariant=DEAD_LETTER_NAMES_TOPIC,
            severity=WARNING,
            expected="RETRY_TOPIC",
            found="none",
            message=record_message("is a dead letter without its original topic."),
        ),
    )
