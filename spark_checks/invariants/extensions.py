"""
Invariants between consume-queue units and their extensions.

With enableConsumeQueueExt a broker stores the tags code in an extension unit. Extension
units without a reference are left by repeated dispatch, and are legal.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.invariants.queues import OWN_UNIT, expected_units, with_records
from spark_checks.tables.finding_rows import Rule, findings, unit_findings
from spark_checks.tables.store_tables import Tables
from spec.integers import INT64_MIN
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX
from spec.store.queue_extension import EXTENSION
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_PLACE = ("topic", "queue_id", "address")


def addresses_without_unit(tables: Tables) -> DataFrame:
    """Return the units whose address has no extension unit."""
    there = _extension_units(tables).select(*_PLACE)
    rows = _with_address(expected_units(tables)).join(there, [*_PLACE], "left_anti")
    return unit_findings(rows, Rule("INV-EXT-001"))


def extensions_unlike_message(tables: Tables) -> DataFrame:
    """Return the extension units that differ from their message."""
    names = ("tags_code", "stored_at_ms", "file_base", "position", "size")
    extension = _extension_units(tables).select(
        *_PLACE, *(F.col(name).alias(f"extension_{name}") for name in names)
    )
    differs = "extension_stored_at_ms != record_stored_at_ms"
    other_code = "extension_tags_code != record_tags_code"
    if not tables.situation.delays_are_known:  # the code of a delayed message is a time
        other_code = f"({other_code} and topic != '{SCHEDULE_TOPIC}')"
    rows = (
        _with_address(with_records(tables))
        .where(OWN_UNIT)
        .join(extension, [*_PLACE])
        .where(f"{other_code} or {differs}")
    )
    return findings(
        rows,
        Rule("INV-EXT-002"),
        file=f"{EXTENSION}/{{topic}}/{{queue_id}}/{{extension_file_base:020d}}",
        offset="extension_position",
        length="extension_size",
    )


def _extension_units(tables: Tables) -> DataFrame:
    rows = tables.extensions.where("kind = 'unit'")
    return rows.withColumnRenamed("offset", "address")


def _with_address(units: DataFrame) -> DataFrame:
    """Return the *units* with an address, and the extension offset in it."""
    offset = F.col("tags_code").bitwiseXOR(F.lit(INT64_MIN))
    return units.where(f"tags_code <= {EXTENSION_ADDRESS_MAX}").withColumn(
        "address", offset
    )
