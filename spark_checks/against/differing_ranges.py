"""
Ranges in which two logs differ, and their first difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.pieces import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Adjacent pieces that differ: from the first byte to the last record."""

    begin: int
    end: int = 0
    here: int = 0
    """Records at places where the other side has none or another."""
    there: int = 0
    changed: int = 0
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
        return First(**{name: row[name] for name in First.__slots__})
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


def parted_at(rows: DataFrame) -> int:
    """Return the offset of the first different record; *rows* must have one."""
    found: int = rows.where("side != 'both'").agg({"offset": "min"}).collect()[0][0]
    return found


def ranges_of(rows: DataFrame, pieces: Sequence[Piece]) -> list[Range]:
    """Return the ranges of *rows*; adjacent pieces make one range."""
    counted = (
        rows.groupBy("begin")
        .agg(
            F.expr("min(at) AS first"),
            F.expr("max(offset + size) AS end"),
            *(
                F.expr(f"count_if(side = '{side}' AND kind = 'record') AS {side}")
                for side in ("here", "there", "both")
            ),
        )
        .orderBy("begin")
        .collect()
    )
    following = {piece.begin: piece.end for piece in pieces}
    found: list[Range] = []
    reached = None
    for row in counted:
        is_adjacent = reached == row.begin
        before = found.pop() if is_adjacent else Range(begin=row.first)
        found.append(
            Range(
                begin=before.begin,
                end=max(before.end, row.end),
                here=before.here + row.here,
                there=before.there + row.there,
                changed=before.changed + row.both,
            )
        )
        reached = following.get(row.begin)
    return found
