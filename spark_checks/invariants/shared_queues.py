"""
Queues with records of several topics, as 4.9.3 to 4.9.8 write them.

In these releases INNER_MULTI_DISPATCH may name a queue of another topic. The record
gets a unit in that queue, at the queue id of its own queue. The queue counts its own
records and these together (4.9.7
org.apache.rocketmq.store.MultiDispatch#wrapMultiDispatch,
ConsumeQueue#multiDispatchLmqQueue). Since 5.0.0 only LMQs get an offset (5.0.0
org.apache.rocketmq.store.ConsumeQueue#assignQueueOffset).

The property may be left from another broker, or from before a send back. It therefore
explains existing units. A missing unit is reported only between others of the queue.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark


def without_shared_places(units: DataFrame, shared: DataFrame) -> DataFrame:
    """Return the *units* that are not at a place named by their record."""
    places = shared.withColumnRenamed("offset", "commit_log_offset")
    place = ["commit_log_offset", "topic", "queue_id", "queue_offset"]
    return units.join(places, place, "left_anti")


def without_shared_gaps(records: DataFrame, shared: DataFrame) -> DataFrame:
    """Return the *records* after gaps that records of other topics do not fill.

    Each record is at ``queue_offset`` where ``wanted`` was expected. Records of other
    topics fill the gap if they lie between it and the queue's previous record at
    ``before_at``. These ranges do not overlap, so each place belongs to the next
    record.
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
        .where("number >= behind.wanted and number < behind.queue_offset")
        .where("at > coalesce(behind.before_at, -1)")
        .groupBy("behind")
        .agg(F.count_distinct("number").alias("others"))
        .where("others = behind.queue_offset - behind.wanted")
        .select("behind.offset")
    )
    return records.join(explained, "offset", "left_anti")
