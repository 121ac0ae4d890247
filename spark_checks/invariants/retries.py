"""
What must be true of messages that were handed back, and of dead letters.

Whoever sends to such a topic by himself may leave out what he likes: only a message
that says it was handed back is held to it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.backstage import Backstage
from spark_checks.findings import Invariant
from spark_checks.invariants.rows import WARNING, record_finding, record_says
from spec.wire import groups
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX

NAMES_ORIGIN = Invariant(
    id="INV-RETRY-001",
    title="A message that is handed back names its topic and its first id, and counts",
    requirement=groups.SEND_BACK_ORIGIN,
    cost="Its consumer is given it under the wrong topic, or for ever again.",
)
DEAD_LETTER_NAMES_TOPIC = Invariant(
    id="INV-RETRY-002",
    title="A dead letter names the topic that it is from",
    requirement=groups.DEAD_LETTER,
    cost="Nobody can say what the dead letter was, or send it to its topic again.",
)
_ID = "^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{56})$"
"""An id of a message at an IPv4 or an IPv6 host, or a unique key."""


def retries_without_origin(stage: Backstage) -> DataFrame:
    """Return the messages that were handed back and do not say all of it."""
    names_one = F.col("retry_topic").isNotNull() | F.col("origin_id").isNotNull()
    is_id = F.coalesce(F.col("origin_id").rlike(_ID), F.lit(False))
    rows = stage.records.where(
        F.col("topic").startswith(RETRY_PREFIX)
        & (F.col("real_topic") == F.col("topic"))
        & F.col("popped_at").isNull()
        & names_one
        & (F.col("retry_topic").isNull() | ~is_id | (F.col("reconsume_times") < 1))
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.lit("RETRY_TOPIC, an id as ORIGIN_MESSAGE_ID, and one delivery"),
        found=F.concat_ws(
            ", ",
            F.coalesce("retry_topic", F.lit("no topic")),
            F.coalesce("origin_id", F.lit("no id")),
            F.format_string("%d deliveries", "reconsume_times"),
        ),
        message=record_says("was handed back, and does not say of what."),
    )


def dead_letters_of_nothing(stage: Backstage) -> DataFrame:
    """Return the dead letters that do not say what topic they are from."""
    rows = stage.records.where(
        F.col("topic").startswith(DEAD_LETTER_PREFIX)
        & F.col("retry_topic").isNull()
        & (F.col("reconsume_times") > 0)
    )
    return record_finding(
        rows,
        severity=F.lit(WARNING),
        expected=F.lit("RETRY_TOPIC"),
        found=F.lit("none"),
        message=record_says("is a dead letter, and does not say of what topic."),
    )
