"""
Invariants between consume-queue units and their extensions.

With enableConsumeQueueExt a broker stores the tags code in an extension unit. Extension
units without a reference are left by repeated dispatch, and are legal.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.queues import expected_units, is_own_unit, with_records
from spark_checks.situation import Situation
from spark_checks.tables.finding_rows import WARNING, Rule, findings, unit_findings
from spark_checks.tables.store_tables import Tables
from spec.integers import INT64_MIN
from spec.store import queue_extension
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX
from spec.store.queue_extension import EXTENSION
from spec.wire.message.topic_names import SCHEDULE_TOPIC

IS_THERE = Invariant(
    id="INV-EXT-001",
    title="The address in a unit is that of an extension unit",
    requirement=queue_extension.EXTENSION_ADDRESS,
    cost="Consumers receive the message regardless of their tag or expression.",
)
OF_ITS_MESSAGE = Invariant(
    id="INV-EXT-002",
    title="An extension unit has the tags code and the store time of its message",
    requirement=queue_extension.EXTENSION_TAGS_CODE,
    cost="Consumers that subscribe to tags miss the message. A delayed message is"
    " delivered at the wrong time.",
)
_PLACE = ("topic", "queue_id", "address")


def addresses_without_unit(tables: Tables) -> DataFrame:
    """Return the units whose address has no extension unit."""
    there = _extension_units(tables).select(*_PLACE)
    rows = _with_address(expected_units(tables)).join(there, [*_PLACE], "left_anti")
    return unit_findings(
        rows,
        Rule(
            invariant=IS_THERE,
            severity=WARNING,
            expected="the address of an extension unit",
            found=F.format_string("%d, offset %d", "tags_code", "address"),
            message=F.format_string(
                "Unit %d of queue %d of %s has the address of extension offset %d,"
                " without an extension unit there.",
                *("queue_offset", "queue_id", "topic", "address"),
            ),
        ),
    )


def extensions_unlike_message(tables: Tables) -> DataFrame:
    """Return the extension units that differ from their message."""
    extension = _extension_units(tables).select(
        *_PLACE,
        F.col("tags_code").alias("extended_code"),
        F.col("stored_at_ms").alias("extended_ms"),
        F.col("file_base").alias("extension_base"),
        F.col("position").alias("extension_position"),
        F.col("size").alias("extension_size"),
    )
    other_code = (
        F.col("extended_code") != F.col("record_tags_code")
    ) & _is_tags_code_known(tables.situation)
    other_time = F.col("extended_ms") != F.col("record_stored_at_ms")
    rows = (
        _with_address(with_records(tables))
        .where(is_own_unit())
        .join(extension, [*_PLACE])
        .where(other_code | other_time)
    )
    return findings(
        rows,
        Rule(
            invariant=OF_ITS_MESSAGE,
            expected=F.format_string(
                "tags code %d, stored at %d", "record_tags_code", "record_stored_at_ms"
            ),
            found=F.format_string(
                "tags code %d, stored at %d", "extended_code", "extended_ms"
            ),
            message=F.format_string(
                "The extension unit of unit %d of queue %d of %s differs from its"
                " message.",
                *("queue_offset", "queue_id", "topic"),
            ),
        ),
        file=F.format_string(
            f"{EXTENSION}/%s/%d/%020d", *("topic", "queue_id", "extension_base")
        ),
        offset=F.col("extension_position"),
        length=F.col("extension_size"),
    )


def _extension_units(tables: Tables) -> DataFrame:
    rows = tables.extensions.where(F.col("kind") == "unit")
    return rows.withColumnRenamed("offset", "address")


def _with_address(units: DataFrame) -> DataFrame:
    """Return the *units* with an address, and the extension offset in it."""
    offset = F.col("tags_code").bitwiseXOR(F.lit(INT64_MIN))
    return units.where(F.col("tags_code") <= EXTENSION_ADDRESS_MAX).withColumn(
        "address", offset
    )


def _is_tags_code_known(situation: Situation) -> Column:
    """Whether the tags code follows from the record: a delay may be unknown."""
    if situation.delays_are_known:
        return F.lit(True)
    return F.col("topic") != SCHEDULE_TOPIC
