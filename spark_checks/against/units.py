"""
Differences between the consume queues of two stores of one log.

Both sides of a queue are reduced to counts and a hash. Only queues that are not equal
are compared unit by unit. A queue may end earlier or begin later on one side: dispatch
lags, and files are deleted.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.scan.record_columns import Queue
from spark_checks.tables.finding_rows import Rule, findings
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_QUEUE = ("topic", "queue_id")
_VALUES = "commit_log_offset, size, code"
_OF_QUEUE = "OVER (PARTITION BY topic, queue_id)"


def units_of(here: DataFrame, there: DataFrame, *, begin: int, end: int) -> DataFrame:
    """Return the units of both sides that point at offsets from *begin* to *end*.

    ``side`` is here or there. ``code`` lacks codes that depend on a broker's settings.
    """
    is_code = f"tags_code > {EXTENSION_ADDRESS_MAX} AND topic != '{SCHEDULE_TOPIC}'"
    of_here, of_there = (
        units.where(
            f"commit_log_offset >= {begin} AND commit_log_offset < {end}"
        ).selectExpr(
            "*", f"'{side}' AS side", f"if({is_code}, tags_code, NULL) AS code"
        )
        for side, units in (("here", here), ("there", there))
    )
    return of_here.unionByName(of_there)


def differing_queues(units: DataFrame) -> list[Queue]:
    """Return the queues of both sides whose units are not equal."""
    counted = units.groupBy(*_QUEUE).agg(
        F.expr("count_if(side = 'here') AS here"),
        F.expr("count_if(side = 'there') AS there"),
        F.expr(f"bit_xor(xxhash64(queue_offset, {_VALUES})) AS hash"),
    )
    rows = counted.where("here > 0 AND there > 0 AND (here != there OR hash != 0)")
    return [(row.topic, row.queue_id) for row in rows.collect()]


def differing_units(units: DataFrame, queues: list[Queue]) -> DataFrame:
    """Return the units of *queues* that differ between the sides, as findings.

    A unit missing on one side counts only between that side's first and last unit.
    """
    session = units.sparkSession
    wanted = F.broadcast(session.createDataFrame(queues, "topic string, queue_id int"))
    sides = ("here", "there")
    pairs = (
        units.join(wanted, [*_QUEUE], "left_semi")
        .groupBy(*_QUEUE, "queue_offset")
        .agg(
            F.expr("max(if(side = 'here', file_base, NULL)) AS file_base"),
            F.expr("max(if(side = 'here', position, NULL)) AS position"),
            *(
                F.expr(f"max(if(side = '{side}', struct({_VALUES}), NULL)) AS {side}")
                for side in sides
            ),
        )
        .selectExpr(
            "*",
            *(
                f"{least}(if({side} IS NULL, NULL, queue_offset)) {_OF_QUEUE} AS"
                f" {side}_{least}"
                for side in sides
                for least in ("min", "max")
            ),
        )
    )
    is_in_both = " AND ".join(
        f"queue_offset BETWEEN {side}_min AND {side}_max" for side in sides
    )
    return findings(
        pairs.where(f"{is_in_both} AND NOT (here <=> there)"),
        Rule("INV-AGAINST-004", values={side: _unit_text(side) for side in sides}),
        file="consumequeue/{topic}/{queue_id}"
        "{coalesce('/' || lpad(file_base, 20, '0'), '')}",
        offset=f"coalesce(position, queue_offset * {UNIT_SIZE})",
        length=UNIT_SIZE,
    )


def _unit_text(side: str) -> str:
    """Return the SQL of the unit of *side* in words."""
    return (
        f"coalesce('commit-log offset ' || {side}.commit_log_offset || ', size '"
        f" || {side}.size || ', tags code ' || coalesce({side}.code,"
        " '(broker setting)'), 'none')"
    )
