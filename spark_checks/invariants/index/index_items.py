"""
Invariants of the slots and items of an index file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.readers.index import ItemDamage
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import Rule, findings, has_damage
from spark_checks.tables.predicates import is_record
from spec.store import index_file
from spec.store.index_file import ITEM_SIZE, SLOT_SIZE

SLOT_NAMES_LAST = Invariant(
    id="INV-INDEX-003",
    title="A slot names its last item",
    requirement=index_file.INDEX_SLOT_VALUE,
    cost="Lookups by the keys of this slot miss messages, or all of them.",
)
ITEM_NAMES_PREVIOUS = Invariant(
    id="INV-INDEX-004",
    title="An item names the previous item of its slot",
    requirement=index_file.INDEX_ITEM_PREVIOUS,
    cost="Lookups by the keys of this slot miss the older messages, or loop.",
)
SECONDS_WITHIN = Invariant(
    id="INV-INDEX-005",
    title="An item's seconds lie within the times of its file",
    requirement=index_file.INDEX_ITEM_SECONDS,
    cost="The message is not found by key, because its time seems to be another.",
)
HASH_NOT_NEGATIVE = Invariant(
    id="INV-INDEX-006",
    title="An item's hash is not negative",
    requirement=index_file.INDEX_KEY_HASH,
    cost="The message is not found by this key.",
)

SECONDS_OF_RECORD = Invariant(
    id="INV-INDEX-009",
    title="An item's seconds are those of its record, if they are out of order",
    requirement=index_file.INDEX_ITEM_SECONDS,
    cost="A lookup by key and time does not find the message, or stops at it and"
    " misses older ones.",
)

PLACE_WITHIN = Invariant(
    id="INV-INDEX-010",
    title="An item points at a place between the header's begin and end offset",
    requirement=index_file.INDEX_HEADER_FIELDS,
    cost="The message is not found by this key.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTables:
    """Damaged slots and items, and the log that they point at."""

    items: DataFrame
    log: DataFrame
    situation: Situation


def wrong_items(tables: IndexTables) -> DataFrame:
    """Return the slots and items that are wrong by themselves or beside others."""
    return _findings(
        tables,
        tables.items,
        _rule(
            SLOT_NAMES_LAST,
            ItemDamage.SLOT,
            expected=F.col("should_name"),
            found=F.col("names"),
            message=F.format_string(
                "The slot at %d names item %d, but its last item is %d.",
                *("position", "names", "should_name"),
            ),
        ),
        _rule(
            ITEM_NAMES_PREVIOUS,
            ItemDamage.PREVIOUS,
            expected=F.col("should_name"),
            found=F.col("names"),
            message=F.format_string(
                "Item %d names item %d, but the previous item of its slot is %d.",
                *("number", "names", "should_name"),
            ),
        ),
        _rule(
            SECONDS_WITHIN,
            ItemDamage.SECONDS,
            expected=F.lit("seconds within the header's times"),
            found=F.col("seconds"),
            message=F.format_string(
                "Item %d is %d seconds after the file's begin, behind the file's end.",
                "number",
                "seconds",
            ),
        ),
        _rule(
            HASH_NOT_NEGATIVE,
            ItemDamage.HASH,
            expected=F.lit("0 or more"),
            found=F.col("key_hash"),
            message=F.format_string("Item %d has a negative hash.", "number"),
        ),
        _rule(
            PLACE_WITHIN,
            ItemDamage.PLACE,
            expected=F.lit("an offset within the header's range"),
            found=F.col("commit_log_offset"),
            message=F.format_string(
                "Item %d points at commit-log offset %d, outside of its file's range.",
                "number",
                "commit_log_offset",
            ),
        ),
    )


def seconds_unlike_record(tables: IndexTables) -> DataFrame:
    """Return the items out of order whose seconds are not those of their record.

    Of two items out of order only one is wrong, and none if the clock was put back.
    """
    times = tables.log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"), "stored_at_ms"
    )
    due = F.floor((F.col("stored_at_ms") - F.col("begun_at_ms")) / 1000)
    rows = (
        tables.items.where(has_damage(ItemDamage.ORDER))
        .join(times, "commit_log_offset")
        .withColumn("due", F.greatest(due, F.lit(0)))
        .where((F.col("begun_at_ms") > 0) & (F.col("seconds") != F.col("due")))
    )
    return _findings(
        tables,
        rows,
        _rule(
            SECONDS_OF_RECORD,
            ItemDamage.ORDER,
            expected=F.col("due"),
            found=F.col("seconds"),
            message=F.format_string(
                "Item %d is %d seconds after the file's begin, its record %d.",
                *("number", "seconds", "due"),
            ),
        ),
    )


def _rule(
    invariant: Invariant,
    damage: ItemDamage,
    *,
    expected: Column,
    found: Column,
    message: Column,
) -> Rule:
    return Rule(
        invariant=invariant,
        is_broken=has_damage(damage),
        expected=expected.cast("string"),
        found=found.cast("string"),
        message=message,
    )


def _findings(tables: IndexTables, rows: DataFrame, *rules: Rule) -> DataFrame:
    severity = tables.situation.tail_severity
    return findings(
        rows,
        *(replace(rule, severity=severity) for rule in rules),
        file=F.col("file"),
        offset=F.col("position"),
        length=F.when(F.col("number").isNull(), SLOT_SIZE).otherwise(ITEM_SIZE),
    )
