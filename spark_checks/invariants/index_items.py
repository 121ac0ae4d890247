"""
What must be true of the slots and items of an index file.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.rows import finding
from spark_checks.sources.index import ItemFlaw
from spark_checks.tables import Tables, is_record
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
    title="An item names the item before it in its slot",
    requirement=index_file.INDEX_ITEM_PREVIOUS,
    cost="Lookups by the keys of this slot miss the older messages, or go in circles.",
)
SECONDS_WITHIN = Invariant(
    id="INV-INDEX-005",
    title="An item's seconds lie within the time of its file",
    requirement=index_file.INDEX_ITEM_SECONDS,
    cost="The message is not found by key, for it seems to be of another time.",
)
HASH_NOT_NEGATIVE = Invariant(
    id="INV-INDEX-006",
    title="An item's hash is not negative",
    requirement=index_file.INDEX_KEY_HASH,
    cost="The message is not found by this key.",
)

SECONDS_OF_RECORD = Invariant(
    id="INV-INDEX-009",
    title="An item's seconds are those of its record, where they are out of order",
    requirement=index_file.INDEX_ITEM_SECONDS,
    cost="A lookup by key and time does not find the message, or ends there and misses"
    " older ones.",
)


def wrong_slots(tables: Tables) -> DataFrame:
    """Return the slots that do not name their last item."""
    return _flawed(
        tables,
        ItemFlaw.SLOT,
        length=SLOT_SIZE,
        expected=F.col("should_name"),
        found=F.col("names"),
        message=F.format_string(
            "The slot at %d names item %d, and its last item is %d.",
            *(F.col(name) for name in ("position", "names", "should_name")),
        ),
    )


def wrong_chains(tables: Tables) -> DataFrame:
    """Return the items that do not name the one before them in their slot."""
    return _flawed(
        tables,
        ItemFlaw.PREVIOUS,
        expected=F.col("should_name"),
        found=F.col("names"),
        message=F.format_string(
            "Item %d names item %d, and the one before it in its slot is %d.",
            *(F.col(name) for name in ("number", "names", "should_name")),
        ),
    )


def wrong_seconds(tables: Tables) -> DataFrame:
    """Return the items whose seconds are not within the time of their file."""
    return _flawed(
        tables,
        ItemFlaw.SECONDS,
        expected=F.lit("seconds within the header's times"),
        found=F.col("seconds"),
        message=F.format_string(
            "Item %d is %d seconds after the file's begin, and the file ends before.",
            F.col("number"),
            F.col("seconds"),
        ),
    )


def is_out_of_order() -> Column:
    """Whether the seconds of an item and of one beside it are in no order."""
    return F.col("flaws").bitwiseAND(int(ItemFlaw.ORDER)) != 0


def seconds_of_no_record(tables: Tables) -> DataFrame:
    """Return the items out of order whose seconds are not those of their record.

    The other of two is in order, and where the clock was put back both are.
    """
    times = tables.log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"), "stored_at_ms"
    )
    due = F.floor((F.col("stored_at_ms") - F.col("begun_at_ms")) / 1000)
    rows = (
        tables.index.where(is_out_of_order())
        .join(times, "commit_log_offset")
        .withColumn("due", F.greatest(due, F.lit(0)))
        .where((F.col("begun_at_ms") > 0) & (F.col("seconds") != F.col("due")))
    )
    return _findings(
        rows,
        tables,
        expected=F.col("due"),
        found=F.col("seconds"),
        message=F.format_string(
            "Item %d is %d seconds after the file's begin, its record %d.",
            *(F.col(name) for name in ("number", "seconds", "due")),
        ),
    )


def wrong_hashes(tables: Tables) -> DataFrame:
    """Return the items whose hash is negative."""
    return _flawed(
        tables,
        ItemFlaw.HASH,
        expected=F.lit("0 or more"),
        found=F.col("key_hash"),
        message=F.format_string("Item %d has a negative hash.", F.col("number")),
    )


def _flawed(
    tables: Tables,
    flaw: ItemFlaw,
    *,
    expected: Column,
    found: Column,
    message: Column,
    length: int = ITEM_SIZE,
) -> DataFrame:
    rows = tables.index.where(F.col("flaws").bitwiseAND(int(flaw)) != 0)
    return _findings(
        rows, tables, expected=expected, found=found, message=message, length=length
    )


def _findings(
    rows: DataFrame,
    tables: Tables,
    *,
    expected: Column,
    found: Column,
    message: Column,
    length: int = ITEM_SIZE,
) -> DataFrame:
    return finding(
        rows,
        severity=F.lit(tables.situation.tail_severity),
        file=F.col("file"),
        offset=F.col("position"),
        length=F.lit(length),
        expected=expected.cast("string"),
        found=found.cast("string"),
        message=message,
    )
