"""
Queues of one topic in which records of others stand too.

4.9.3 to 4.9.8 give a record that names queues in INNER_MULTI_DISPATCH a place in each,
and those whose names do not begin with %LMQ% are queues of a topic like any other, with
the number of the record's own queue: they count its messages and these together (4.9.7
org.apache.rocketmq.store.MultiDispatch#wrapMultiDispatch, ConsumeQueue
#multiDispatchLmqQueue). Since 5.0.0 only light queues get an offset (5.0.0
org.apache.rocketmq.store.ConsumeQueue#assignQueueOffset).

What a record names may be left from another broker, or from before it was handed back.
So it explains what is there, and is demanded only in the midst of a queue.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark


def of_no_shared_place(units: DataFrame, shared: DataFrame) -> DataFrame:
    """Return the *units* that are not at a place which their record names."""
    places = shared.withColumnRenamed("offset", "commit_log_offset")
    place = ["commit_log_offset", "topic", "queue_id", "queue_offset"]
    return units.join(places, place, "left_anti")


def without_shared_gaps(records: DataFrame, shared: DataFrame) -> DataFrame:
    """Return the *records* that leave out places which no record of another topic has.

    Each is at ``queue_offset`` where ``wanted`` was due. Those of others must lie
    between it and the record of its queue before it, which begins at ``before_at``; as
    these stretches do not overlap, each place is asked about the next record only.
    """
    latest_first = Window.partitionBy("topic", "queue_id").orderBy(F.desc("at"))
    gap = F.struct("offset", "queue_offset", "wanted", "before_at")
    gaps = records.select(
        "topic", "queue_id", F.col("offset").alias("at"), gap.alias("gap")
    )
    places = shared.select(
        *("topic", "queue_id"),
        F.col("offset").alias("at"),
        F.col("queue_offset").alias("number"),
    )
    explained = (
        places.unionByName(gaps, allowMissingColumns=True)
        .withColumn("behind", F.last("gap", ignorenulls=True).over(latest_first))
        .where(
            F.col("number").between(
                F.col("behind.wanted"), F.col("behind.queue_offset") - 1
            )
            & (F.col("at") > F.coalesce("behind.before_at", F.lit(-1)))
        )
        .groupBy("behind")
        .agg(F.count_distinct("number").alias("others"))
        .where(F.col("others") == F.expr("behind.queue_offset - behind.wanted"))
        .select("behind.offset")
    )
    return records.join(explained, "offset", "left_anti")
