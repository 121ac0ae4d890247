"""
What must be true between units of consume queues and their extensions.

A broker with enableConsumeQueueExt keeps a message's tags code beside the queue. Units
that lie there without one that names them are of messages that were dispatched again.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.queues import asked_about, is_own, with_records
from spark_checks.invariants.rows import WARNING, finding
from spark_checks.sources.record_columns import SCHEDULE_TOPIC
from spark_checks.tables import Situation, Tables, queue_file
from spec.integers import INT64_MIN
from spec.store import queue_extension
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.store.queue_extension import EXTENSION

IS_THERE = Invariant(
    id="INV-EXT-001",
    title="The address in a unit is that of an extension unit",
    requirement=queue_extension.EXTENSION_ADDRESS,
    cost="The message is given to consumers whatever tag or expression they asked for.",
)
OF_ITS_MESSAGE = Invariant(
    id="INV-EXT-002",
    title="An extension unit has the tags code and the store time of its message",
    requirement=queue_extension.EXTENSION_TAGS_CODE,
    cost="Consumers that subscribe to tags miss the message; a delayed one comes at"
    " the wrong time.",
)
_PLACE = ("topic", "queue_id", "address")


def addresses_of_nothing(tables: Tables) -> DataFrame:
    """Return the units whose address is that of no extension unit."""
    there = _extension_units(tables).select(*_PLACE)
    rows = _with_address(asked_about(tables)).join(there, [*_PLACE], "left_anti")
    return finding(
        rows,
        severity=F.lit(WARNING),
        file=queue_file(),
        offset=F.col("position"),
        length=F.lit(UNIT_SIZE),
        expected=F.lit("the address of an extension unit"),
        found=F.format_string("%d, offset %d", "tags_code", "address"),
        message=F.format_string(
            "Unit %d of queue %d of %s has the address of offset %d in its extension,"
            " where no extension unit is.",
            *(F.col(name) for name in ("queue_offset", "queue_id", "topic", "address")),
        ),
    )


def extensions_of_others(tables: Tables) -> DataFrame:
    """Return the extension units that are not what their message gives."""
    extension = _extension_units(tables).select(
        *_PLACE,
        F.col("tags_code").alias("extended_code"),
        F.col("stored_at_ms").alias("extended_ms"),
        F.col("file_base").alias("extension_base"),
        F.col("position").alias("extension_position"),
        F.col("size").alias("extension_size"),
    )
    other_code = (F.col("extended_code") != F.col("record_tags_code")) & _is_told(
        tables.situation
    )
    other_time = F.col("extended_ms") != F.col("record_stored_at_ms")
    rows = (
        _with_address(with_records(tables))
        .where(is_own())
        .join(extension, [*_PLACE])
        .where(other_code | other_time)
    )
    return finding(
        rows,
        file=F.format_string(
            f"{EXTENSION}/%s/%d/%020d", "topic", "queue_id", "extension_base"
        ),
        offset=F.col("extension_position"),
        length=F.col("extension_size"),
        expected=F.format_string(
            "tags code %d, stored at %d", "record_tags_code", "record_stored_at_ms"
        ),
        found=F.format_string(
            "tags code %d, stored at %d", "extended_code", "extended_ms"
        ),
        message=F.format_string(
            "The extension unit of unit %d of queue %d of %s is not what its message"
            " gives.",
            *(F.col(name) for name in ("queue_offset", "queue_id", "topic")),
        ),
    )


def _extension_units(tables: Tables) -> DataFrame:
    rows = tables.extensions.where(F.col("kind") == "unit")
    return rows.withColumnRenamed("offset", "address")


def _with_address(units: DataFrame) -> DataFrame:
    """Return the *units* that have an address, and the offset for which it stands."""
    offset = F.col("tags_code").bitwiseXOR(F.lit(INT64_MIN))
    return units.where(F.col("tags_code") <= EXTENSION_ADDRESS_MAX).withColumn(
        "address", offset
    )


def _is_told(situation: Situation) -> Column:
    """Whether a record tells its tags code: the delay of a level may be another."""
    if situation.delays_are_known:
        return F.lit(True)
    return F.col("topic") != SCHEDULE_TOPIC.decode()
