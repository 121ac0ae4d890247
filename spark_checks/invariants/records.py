"""
What must be true of the commit log's rows, each by itself or next to its neighbour.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.rows import ERROR, record_finding, record_says
from spark_checks.invariants.shared_queues import without_shared_gaps
from spark_checks.tables import Tables, is_record, needs_unit
from spec.store import commit_log, message_record

NO_DAMAGE = Invariant(
    id="INV-LOG-001",
    title="A commit-log file is a row of whole records, then a blank or zeros",
    requirement=commit_log.LOG_IS_CONTIGUOUS,
    cost="The messages in the damaged region are lost; a broker that recovers ends"
    " its log there and drops every message behind it.",
)
BODY_CHECKSUM = Invariant(
    id="INV-LOG-002",
    title="A record's checksum is that of its body",
    requirement=message_record.RECORD_CRC,
    cost="The message's body is not what was sent; recovery after a crash ends the"
    " log before it.",
)
OWN_PLACE = Invariant(
    id="INV-LOG-003",
    title="A record's physical offset is its place",
    requirement=message_record.RECORD_PHYSICAL_OFFSET,
    cost="The message's id points elsewhere, so retries and lookups of it fail.",
)
FILE_WRITTEN_TO_ITS_END = Invariant(
    id="INV-LOG-004",
    title="Only the last file of a commit log has an unwritten end",
    requirement=commit_log.SCAN_NEXT_FILE,
    cost="Recovery ends the log in this file and drops all later ones.",
)
QUEUE_OFFSETS_DENSE = Invariant(
    id="INV-LOG-005",
    title="The records of one queue count it without gaps",
    requirement=message_record.RECORD_QUEUE_OFFSET,
    cost="Consumers of this queue miss a message or see one twice.",
)


def damaged_regions(tables: Tables) -> DataFrame:
    """Return the regions of commit-log files that hold neither record nor blank.

    A torn end of the last file is what a killed broker leaves behind.
    """
    rows = tables.log.where(F.col("kind") == "damaged")
    torn = F.col("offset") >= tables.situation.log_end
    return record_finding(
        rows,
        severity=F.when(torn, tables.situation.tail_severity).otherwise(ERROR),
        expected=F.lit("a record, a blank, or zeros to the end"),
        found=F.col("reason"),
        message=F.format_string(
            "At %d no record begins, and %d bytes are unreadable: %s.",
            F.col("position"),
            F.col("size"),
            F.col("reason"),
        ),
    )


def wrong_checksums(tables: Tables) -> DataFrame:
    """Return the records whose body is not the one that was checksummed."""
    rows = tables.log.where(is_record() & (F.col("body_crc") != F.col("computed_crc")))
    return record_finding(
        rows,
        expected=F.format_string("0x%08x", F.col("body_crc")),
        found=F.format_string("0x%08x", F.col("computed_crc")),
        message=record_says("stores another checksum than its body has."),
    )


def wrong_places(tables: Tables) -> DataFrame:
    """Return the records that say they are elsewhere."""
    rows = tables.log.where(is_record() & (F.col("physical_offset") != F.col("offset")))
    return record_finding(
        rows,
        expected=F.col("offset").cast("string"),
        found=F.col("physical_offset").cast("string"),
        message=F.format_string(
            "The record at %d says that it is at commit-log offset %d.",
            F.col("position"),
            F.col("physical_offset"),
        ),
    )


def unwritten_ends(tables: Tables) -> DataFrame:
    """Return the files that end in zeros although a later file has records."""
    rows = tables.log.where(
        (F.col("kind") == "tail")
        & (F.col("file_base") < tables.situation.last_file_base)
    )
    return record_finding(
        rows,
        expected=F.lit("a record or a blank"),
        found=F.lit("zeros"),
        message=F.format_string(
            "The file is unwritten from %d on, yet a later file has records.",
            F.col("position"),
        ),
    )


def broken_counts(tables: Tables) -> DataFrame:
    """Return the records whose queue offset does not follow the one before."""
    records = with_lives(tables)
    in_life = Window.partitionBy("topic", "queue_id", "life").orderBy("offset")
    before = F.lag("queue_offset").over(in_life)
    first_is_0 = F.lit(0 if tables.situation.min_offset == 0 else None).cast("bigint")
    expected = F.coalesce(before + 1, F.when(F.col("life") == 0, first_is_0))
    rows = (
        records.withColumn("wanted", expected)
        .withColumn("before_at", F.lag("offset").over(in_life))
        .where(F.col("queue_offset") != F.col("wanted"))
    )
    if tables.shared is not None:
        rows = without_shared_gaps(rows, tables.shared)
    return record_finding(
        rows,
        expected=F.col("wanted").cast("string"),
        found=F.col("queue_offset").cast("string"),
        message=F.format_string(
            "The record at %d (%s, queue %d) has queue offset %d, and %d is due.",
            F.col("position"),
            *_queue_place(),
            F.col("wanted"),
        ),
    )


def with_lives(tables: Tables) -> DataFrame:
    """Return the records that need a unit, each with the life of its queue.

    They are those of :func:`places_with_lives` but for the shared ones.
    """
    return places_with_lives(tables).where(~F.col("is_shared"))


def places_with_lives(tables: Tables) -> DataFrame:
    """Return the places of queues that records need, each with the life of its queue.

    Who deletes a topic and makes it anew has its queues begin at 0 again; the old
    records stay in the log, without units. Each such beginning starts a life. Only
    queues that are whole among the rows are looked at. A place is shared if it is
    that of a record of another topic, which is known of its offset only.
    """
    queue = Window.partitionBy("topic", "queue_id").orderBy("offset")
    begins = F.when(F.col("queue_offset") == 0, 1).otherwise(0)
    records = tables.log.where(needs_unit(tables.situation) & F.col("suspect"))
    places = records.withColumn("is_shared", F.lit(False))
    if tables.shared is not None:
        shared = tables.shared.withColumn("is_shared", F.lit(True))
        places = places.unionByName(shared, allowMissingColumns=True)
    return places.withColumn("life", F.sum(begins).over(queue))


def _queue_place() -> tuple[Column, Column, Column]:
    return F.col("topic"), F.col("queue_id"), F.col("queue_offset")
