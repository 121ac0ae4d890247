"""
Ranges in which two logs differ, and their first difference.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

_COUNTS = {"here": "here", "there": "there", "changed": "both"}
"""Side of the counted records, by the name of their number."""


def first_of(rows: DataFrame) -> Row | None:
    """Return the first difference among *rows*: byte, record and both sides' values.

    ``field`` has the names of the differing fields, or ``record`` for another record.
    """
    found = rows.orderBy("at", "offset").limit(2).collect()
    if not found or found[0].side == "both":
        return found[0] if found else None
    texts = {
        one.side: f"{one.topic}, queue {one.queue_id}, offset {one.queue_offset}"
        if one.kind == "record"
        else one.kind
        for one in found
        if one.offset == found[0].offset
    }
    here, there = (texts.get(side, "no record") for side in ("here", "there"))
    place = {"at": found[0].at, "offset": found[0].offset}
    return Row(**place, field="record", found=here, expected=there)


def parted_at(rows: DataFrame) -> int:
    """Return the offset of the first different record; *rows* must have one."""
    found: int = rows.where("side != 'both'").agg({"offset": "min"}).collect()[0][0]
    return found


def ranges_of(rows: DataFrame) -> list[Row]:
    """Return the ranges of *rows*: from the first byte to the end of the last record.

    Adjacent pieces make one range. ``here`` and ``there`` count records where the other
    side has none or another, ``changed`` those with other contents at the same place.
    """
    counts = (
        F.expr(f"count_if(side = '{side}' AND kind = 'record') AS {name}")
        for name, side in _COUNTS.items()
    )
    ends = F.expr("min(at) AS begin"), F.expr("max(offset + size) AS end")
    in_order = Window.partitionBy(F.lit(0)).orderBy("piece")
    return (
        rows.groupBy("piece")
        .agg(*ends, *counts)
        .withColumn("run", F.col("piece") - F.row_number().over(in_order))
        .groupBy("run")
        .agg(
            F.min("begin").alias("begin"),
            F.max("end").alias("end"),
            *(F.sum(name).alias(name) for name in _COUNTS),
        )
        .orderBy("begin")
        .collect()
    )


def is_parted(one: Row) -> bool:
    """Return whether the logs hold different records in a range."""
    return bool(one.here + one.there)
