"""
Ranges in which two logs differ, and their first difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.pieces import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Adjacent pieces that differ: from the first byte to the last record."""

    begin: int
    end: int
    here: int
    """Records at places where the other side has none or another."""
    there: int
    changed: int
    """Records at the same place on both sides, with different contents."""

    @property
    def is_parted(self) -> bool:
        """Whether the logs hold different records in the range."""
        return self.here + self.there > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class First:
    """First byte in which two logs differ, with its record."""

    at: int
    offset: int
    """Commit-log offset of the record."""
    field: str
    """Names of the differing fields; ``record`` for another record."""
    found: str
    expected: str


def first_of(rows: DataFrame) -> First | None:
    """Return the first difference among *rows*."""
    found = rows.orderBy("at", "offset").limit(2).collect()
    if not found:
        return None
    row = found[0]
    if row.side == "both":
        return First(
            at=row.at,
            offset=row.offset,
            field=row.field,
            found=row.found,
            expected=row.expected,
        )
    texts = {
        one.side: f"{one.topic}, queue {one.queue_id}, offset {one.queue_offset}"
        if one.kind == "record"
        else one.kind
        for one in found
        if one.offset == row.offset
    }
    return First(
        at=row.at,
        offset=row.offset,
        field="record",
        found=texts.get("here", "no record"),
        expected=texts.get("there", "no record"),
    )


def parted_at(rows: DataFrame) -> int | None:
    """Return the offset of the first different record; None without one."""
    found: int | None = (
        rows.where(F.col("side") != "both").agg(F.min("offset")).collect()[0][0]
    )
    return found


def ranges_of(rows: DataFrame, pieces: Sequence[Piece]) -> list[Range]:
    """Return the ranges of *rows*; adjacent pieces make one range."""
    counted = (
        rows.groupBy("begin")
        .agg(
            F.min("at").alias("first"),
            F.max(F.col("offset") + F.col("size")).alias("end"),
            _records_of("here").alias("here"),
            _records_of("there").alias("there"),
            _records_of("both").alias("changed"),
        )
        .orderBy("begin")
        .collect()
    )
    following = {piece.begin: piece.end for piece in pieces}
    found: list[Range] = []
    reached = None
    for row in counted:
        one = Range(
            begin=row.first,
            end=row.end,
            here=row.here,
            there=row.there,
            changed=row.changed,
        )
        found.append(_joined(found.pop(), one) if reached == row.begin else one)
        reached = following.get(row.begin)
    return found


def _joined(one: Range, other: Range) -> Range:
    return replace(
        one,
        end=max(one.end, other.end),
        here=one.here + other.here,
        there=one.there + other.there,
        changed=one.changed + other.changed,
    )


def _records_of(side: str) -> Column:
    is_of_side = (F.col("side") == side) & (F.col("kind") == "record")
    return F.count(F.when(is_of_side, F.lit(1)))
