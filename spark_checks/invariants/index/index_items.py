"""
Invariants of the slots and items of an index file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
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
        {
            ItemDamage.SLOT: Rule(
                invariant=SLOT_NAMES_LAST,
                expected="{should_name}",
                found="{names}",
                message="The slot at {position} names item {names}, but its last item"
                " is {should_name}.",
            ),
            ItemDamage.PREVIOUS: Rule(
                invariant=ITEM_NAMES_PREVIOUS,
                expected="{should_name}",
                found="{names}",
                message="Item {number} names item {names}, but the previous item of"
                " its slot is {should_name}.",
            ),
            ItemDamage.SECONDS: Rule(
                invariant=SECONDS_WITHIN,
                expected="seconds within the header's times",
                found="{seconds}",
                message="Item {number} is {seconds} seconds after the file's begin,"
                " behind the file's end.",
            ),
            ItemDamage.HASH: Rule(
                invariant=HASH_NOT_NEGATIVE,
                expected="0 or more",
                found="{key_hash}",
                message="Item {number} has a negative hash.",
            ),
            ItemDamage.PLACE: Rule(
                invariant=PLACE_WITHIN,
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
        invariant=SECONDS_OF_RECORD,
        expected="{due}",
        found="{seconds}",
        message="Item {number} is {seconds} seconds after the file's begin, its record"
        " {due}.",
    )
    return _findings(tables, rows, {ItemDamage.ORDER: rule})


def _findings(
    tables: IndexTables, rows: DataFrame, rules: Mapping[ItemDamage, Rule]
) -> DataFrame:
    """Return the findings of the rule about each kind of damage."""
    severity = tables.situation.tail_severity
    return findings(
        rows,
        *(
            replace(rule, severity=severity, is_broken=has_damage(damage))
            for damage, rule in rules.items()
        ),
        file="{file}",
        length=f"if(number is null, {SLOT_SIZE}, {ITEM_SIZE})",
    )
