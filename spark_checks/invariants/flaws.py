"""
What must be true of a record that can be read: its properties, flags, time and body.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant
from spark_checks.invariants.rows import ERROR, WARNING, record_finding, record_says
from spark_checks.sources.record_flaws import (
    CLOCK_TOLERANCE_MS,
    COMPRESSION_TYPE,
    LZ4_TYPE,
    ZSTD_TYPE,
    Flaw,
)
from spark_checks.tables import Tables
from spec.store import message_record, record_checksum, recovery
from spec.wire import properties

PROPERTIES_PARSE = Invariant(
    id="INV-LOG-006",
    title="A record's properties are names and values",
    requirement=properties.PROPERTIES_FORM,
    cost="Keys, tags or delays of the message are not seen: it is not found by key, or"
    " not given to those who subscribe to its tag.",
)
FLAGS_KNOWN = Invariant(
    id="INV-LOG-007",
    title="A record has no system flags of which nobody knows what they mean",
    requirement=message_record.RECORD_UNKNOWN_FLAGS,
    cost="A producer sent them, or the record is damaged where no checksum looks.",
)
TIMES_RISE = Invariant(
    id="INV-LOG-008",
    title="No record was stored before the first of its file",
    requirement=recovery.AFTER_A_CRASH,
    cost="Recovery, search by time and the deletion of old files go by these times,"
    " and err around this one.",
)
BODY_INFLATES = Invariant(
    id="INV-LOG-009",
    title="A body that is said to be compressed can be inflated",
    requirement=message_record.RECORD_BODY_UNTOUCHED,
    cost="Consumers of the message fail, each time it is given to them.",
)
WHOLE_CHECKSUM = Invariant(
    id="INV-LOG-010",
    title="A record agrees with the checksum at its end, if its broker made one",
    requirement=record_checksum.RECORD_CHECKSUM,
    cost="What stands around the body is not what was stored: the topic, an offset, a"
    " time or a property. With forceVerifyPropCRC recovery ends the log before it.",
)
FLAWS = (PROPERTIES_PARSE, FLAGS_KNOWN, TIMES_RISE, BODY_INFLATES, WHOLE_CHECKSUM)


def broken_properties(tables: Tables) -> DataFrame:
    """Return the records whose properties are not names and values."""
    return _flawed(
        tables,
        Flaw.PROPERTIES,
        expected=F.lit("names and values, each with its separator"),
        found=F.lit("a separator too few or too many, or zeros"),
        says="has properties that are not all names and values.",
    )


def unknown_flags(tables: Tables) -> DataFrame:
    """Return the records with flags of which nobody knows what they mean."""
    return _flawed(
        tables,
        Flaw.FLAGS,
        expected=F.lit("known system flags"),
        found=F.format_string("0x%x", F.col("system_flags")),
        says="has unknown system flags.",
    )


def times_going_back(tables: Tables) -> DataFrame:
    """Return the records that were stored long before the first of their file."""
    return _flawed(
        tables,
        Flaw.TIME,
        expected=F.lit(f"at most {CLOCK_TOLERANCE_MS} ms before the first of its file"),
        found=F.col("stored_at_ms").cast("string"),
        says="says that it was stored long before the first of its file.",
    )


def bodies_not_compressed(tables: Tables) -> DataFrame:
    """Return the records whose bodies are said to be compressed, and are not."""
    kind = F.col("system_flags").bitwiseAND(COMPRESSION_TYPE)
    return _flawed(
        tables,
        Flaw.COMPRESSION,
        expected=F.format_string(
            "a body in %s's format",
            F.when(kind == LZ4_TYPE, "LZ4")
            .when(kind == ZSTD_TYPE, "Zstandard")
            .otherwise("zlib"),
        ),
        found=F.lit("other bytes, with the right checksum"),
        says="says that its body is compressed, which it is not.",
    )


def wrong_whole_checksums(tables: Tables) -> DataFrame:
    """Return the records that disagree with the checksum at their end."""
    return _flawed(
        tables,
        Flaw.CHECKSUM,
        expected=F.lit("the checksum that ends its properties, __CRC32#"),
        found=F.lit("another, although the records beside it have theirs"),
        says="is not as it was when the checksum at its end was made.",
        severity=ERROR,
    )


def _flawed(
    tables: Tables,
    flaw: Flaw,
    *,
    expected: Column,
    found: Column,
    says: str,
    severity: str = WARNING,
) -> DataFrame:
    rows = tables.log.where(F.col("flaws").bitwiseAND(int(flaw)) != 0)
    return record_finding(
        rows,
        severity=F.lit(severity),
        expected=expected,
        found=found,
        message=record_says(says),
    )
