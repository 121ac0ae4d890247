"""
Invariants of the slots and items of an index file.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.readers.index import ItemDamage
from spark_checks.tables.finding_rows import Rule, damage_rules, findings
from spark_checks.tables.predicates import is_record
from spec.store.index_file import ITEM_SIZE, SLOT_SIZE


def wrong_items(items: DataFrame) -> DataFrame:
    """Return the slots and *items* that are wrong by themselves or beside others."""
    names = {
        ItemDamage.SLOT: "INV-INDEX-003",
        ItemDamage.PREVIOUS: "INV-INDEX-004",
        ItemDamage.SECONDS: "INV-INDEX-005",
        ItemDamage.HASH: "INV-INDEX-006",
        ItemDamage.PLACE: "INV-INDEX-010",
    }
    return _findings(items, *damage_rules(names))


def seconds_unlike_record(disordered: DataFrame, log: DataFrame) -> DataFrame:
    """Return the *disordered* items whose seconds are not those of their record.

    Of two items out of order only one is wrong, and none if the clock was put back.
    """
    times = log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"), "stored_at_ms"
    )
    due = "greatest(floor((stored_at_ms - begun_at_ms) / 1000), 0)"
    rows = (
        disordered.join(times, "commit_log_offset")
        .withColumn("due", F.expr(due))
        .where("begun_at_ms > 0 and seconds != due")
    )
    return _findings(rows, Rule("INV-INDEX-009"))


def _findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    length = f"if(number is null, {SLOT_SIZE}, {ITEM_SIZE})"
    return findings(rows, *rules, file="{file}", length=length)
