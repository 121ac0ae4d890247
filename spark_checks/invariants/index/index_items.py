"""
Invariants of the slots and items of an index file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.readers.index import ItemDamage
from spark_checks.tables.finding_rows import Rule, findings, has_damage
from spark_checks.tables.predicates import is_record
from spec.store.index_file import ITEM_SIZE, SLOT_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTables:
    """Damaged slots and items, and the log that they point at."""

    items: DataFrame
    log: DataFrame


def wrong_items(tables: IndexTables) -> DataFrame:
    """Return the slots and items that are wrong by themselves or beside others."""
    return _findings(
        tables.items,
        {
            ItemDamage.SLOT: Rule(
                invariant="INV-INDEX-003",
                expected="{should_name}",
                found="{names}",
                message="The slot at {position} names item {names}, but its last item"
                " is {should_name}.",
            ),
            ItemDamage.PREVIOUS: Rule(
                invariant="INV-INDEX-004",
                expected="{should_name}",
                found="{names}",
                message="Item {number} names item {names}, but the previous item of"
                " its slot is {should_name}.",
            ),
            ItemDamage.SECONDS: Rule(
                invariant="INV-INDEX-005",
                expected="seconds within the header's times",
                found="{seconds}",
                message="Item {number} is {seconds} seconds after the file's begin,"
                " behind the file's end.",
            ),
            ItemDamage.HASH: Rule(
                invariant="INV-INDEX-006",
                expected="0 or more",
                found="{key_hash}",
                message="Item {number} has a negative hash.",
            ),
            ItemDamage.PLACE: Rule(
                invariant="INV-INDEX-010",
                expected="an offset within the header's range",
                found="{commit_log_offset}",
                message="Item {number} points at commit-log offset {commit_log_offset},"
                " outside of its file's range.",
            ),
        },
    )


def seconds_unlike_record(tables: IndexTables) -> DataFrame:
    """Return the items out of order whose seconds are not those of their record.

    Of two items out of order only one is wrong, and none if the clock was put back.
    """
    times = tables.log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"), "stored_at_ms"
    )
    due = "greatest(floor((stored_at_ms - begun_at_ms) / 1000), 0)"
    rows = (
        tables.items.where(has_damage(ItemDamage.ORDER))
        .join(times, "commit_log_offset")
        .withColumn("due", F.expr(due))
        .where("begun_at_ms > 0 and seconds != due")
    )
    rule = Rule(
        invariant="INV-INDEX-009",
        expected="{due}",
        found="{seconds}",
        message="Item {number} is {seconds} seconds after the file's begin, its record"
        " {due}.",
    )
    return _findings(rows, {ItemDamage.ORDER: rule})


def _findings(rows: DataFrame, rules: Mapping[ItemDamage, Rule]) -> DataFrame:
    """Return the findings of the rule about each kind of damage."""
    return findings(
        rows,
        *(replace(one, is_broken=has_damage(damage)) for damage, one in rules.items()),
        file="{file}",
        length=f"if(number is null, {SLOT_SIZE}, {ITEM_SIZE})",
    )
