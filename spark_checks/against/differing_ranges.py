"""
Ranges in which two logs differ, and their first difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark


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


def ranges_of(rows: DataFrame) -> list[Range]:
    """Return the ranges of *rows*; adjacent pieces make one range."""
    sides = ("here", "there", "both")
    counted = rows.groupBy("piece").agg(
        F.expr("min(at) AS first"),
        F.expr("max(offset + size) AS end"),
        *(
            F.expr(f"count_if(side = '{side}' AND kind = 'record') AS {side}")
            for side in sides
        ),
    )
    found = []
    numbered = enumerate(counted.orderBy("piece").collect())
    for _, adjacent in groupby(numbered, lambda pair: pair[1].piece - pair[0]):
        pieces = [row for _, row in adjacent]
        here, there, both = (sum(row[side] for row in pieces) for side in sides)
        found.append(
            Range(
                begin=pieces[0].first,
                end=max(row.end for row in pieces),
                here=here,
                there=there,
                changed=both,
            )
        )
    return found
