"""
Invariants of a readable record's content: properties, flags, store time and body.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.columns.record_damage import (
    CLOCK_TOLERANCE_MS,
    COMPRESSION_TYPE,
    LZ4_TYPE,
    ZSTD_TYPE,
    RecordDamage,
)
from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import (
    ERROR,
    WARNING,
    record_finding,
    record_message,
)
from spark_checks.tables.store_tables import Tables
from spec.store import message_record, record_checksum
from spec.store.recovery import recovery
from spec.wire.message import properties

PROPERTIES_PARSE = Invariant(
    id="INV-LOG-006",
    title="A record's properties are names and values",
    requirement=properties.PROPERTIES_FORM,
    cost="Keys, tags or delays of the message are not read. It is not found by key, or"
    " consumers of its tag do not receive it.",
)
FLAGS_KNOWN = Invariant(
    id="INV-LOG-007",
    title="A record has no unknown system flags",
    requirement=message_record.RECORD_UNKNOWN_FLAGS,
    cost="A producer sent them, or the record is damaged where no checksum covers it.",
)
TIMES_RISE = Invariant(
    id="INV-LOG-008",
    title="No record was stored long before the first record of its file",
    requirement=recovery.AFTER_A_CRASH,
    cost="Recovery, search by time and deletion of old files use these times, and fail"
    " around this record.",
)
BODY_INFLATES = Invariant(
    id="INV-LOG-009",
    title="A body with the compression flag can be decompressed",
    requirement=message_record.RECORD_BODY_UNTOUCHED,
    cost="Consumers fail on each delivery of the message.",
)
WHOLE_CHECKSUM = Invariant(
    id="INV-LOG-010",
    title="A record agrees with the checksum at its end, if its broker made one",
    requirement=record_checksum.RECORD_CHECKSUM,
    cost="Something around the body differs from what was stored: topic, offset, time"
    " or property. With forceVerifyPropCRC recovery truncates the log before it.",
)
PORTS = Invariant(
    id="INV-LOG-011",
    title="A record's ports are 0 to 65535",
    requirement=message_record.RECORD_HOSTS,
    cost="The record is damaged where no checksum covers it. Clients that decode the"
    " host, or the message's id, fail.",
)
HALF_OFFSET = Invariant(
    id="INV-LOG-012",
    title="Only a committed message has a prepared transaction offset",
    requirement=message_record.RECORD_HALF_OFFSET,
    cost="The record is damaged where no checksum covers it. Other fields may be wrong"
    " too.",
)
RANGE = Invariant(
    id="INV-LOG-013",
    title="A record's born time lies between 1970 and 9999, and its delivery count is"
    " not negative",
    requirement=message_record.RECORD_BORN,
    cost="A producer sent them, or the record is damaged where no checksum covers it.",
)
CONTENT_INVARIANTS = (
    PROPERTIES_PARSE,
    FLAGS_KNOWN,
    TIMES_RISE,
    BODY_INFLATES,
    WHOLE_CHECKSUM,
    PORTS,
    HALF_OFFSET,
    RANGE,
)


def broken_properties(tables: Tables) -> DataFrame:
    """Return the records whose properties are not names and values."""
    return _damaged_rows(
        tables,
        RecordDamage.PROPERTIES,
        expected=F.lit("names and values, each with its separator"),
        found=F.lit("a missing or additional separator, or zeros"),
        text="has properties that are not all names and values.",
    )


def unknown_flags(tables: Tables) -> DataFrame:
    """Return the records with unknown system flags."""
    return _damaged_rows(
        tables,
        RecordDamage.FLAGS,
        expected=F.lit("known system flags"),
        found=F.format_string("0x%x", F.col("system_flags")),
        text="has unknown system flags.",
    )


def times_before_first(tables: Tables) -> DataFrame:
    """Return the records stored long before the first record of their file."""
    return _damaged_rows(
        tables,
        RecordDamage.TIME,
        expected=F.lit(f"at most {CLOCK_TOLERANCE_MS} ms before the first of its file"),
        found=F.col("stored_at_ms").cast("string"),
        text="has a store time long before the first of its file.",
    )


def bodies_not_compressed(tables: Tables) -> DataFrame:
    """Return the records with a compression flag and an uncompressed body."""
    kind = F.col("system_flags").bitwiseAND(COMPRESSION_TYPE)
    return _damaged_rows(
        tables,
        RecordDamage.COMPRESSION,
        expected=F.format_string(
            "a body in %s's format",
            F.when(kind == LZ4_TYPE, "LZ4")
            .when(kind == ZSTD_TYPE, "Zstandard")
            .otherwise("zlib"),
        ),
        found=F.lit("other bytes, with the right checksum"),
        text="has a compression flag and an uncompressed body.",
    )


def wrong_whole_checksums(tables: Tables) -> DataFrame:
    """Return the records that differ from the checksum at their end."""
    return _damaged_rows(
        tables,
        RecordDamage.CHECKSUM,
        expected=F.lit("the checksum that ends its properties, __CRC32#"),
        found=F.lit("another, beside records with a correct one"),
        text="differs from the checksum at its end.",
        severity=ERROR,
    )


def impossible_ports(tables: Tables) -> DataFrame:
    """Return the records with a port that does not exist."""
    return _damaged_rows(
        tables,
        RecordDamage.PORT,
        expected=F.lit("ports of 0 to 65535"),
        found=F.lit("another number"),
        text="has a host with a port that does not exist.",
    )


def half_offsets_without_commit(tables: Tables) -> DataFrame:
    """Return the records with a prepared transaction offset that no commit made."""
    return _damaged_rows(
        tables,
        RecordDamage.HALF_OFFSET,
        expected=F.lit("a prepared transaction offset of 0"),
        found=F.lit("another offset"),
        text="has a prepared transaction offset, but no commit made it.",
    )


def values_out_of_range(tables: Tables) -> DataFrame:
    """Return the records with a born time or delivery count out of range."""
    return _damaged_rows(
        tables,
        RecordDamage.RANGE,
        expected=F.lit("a born time from 1970 to 9999, a delivery count of 0 or more"),
        found=F.lit("another value"),
        text="has an impossible born time or delivery count.",
    )


def _damaged_rows(
    tables: Tables,
    flaw: RecordDamage,
    *,
    expected: Column,
    found: Column,
    text: str,
    severity: str = WARNING,
) -> DataFrame:
    rows = tables.log.where(F.col("damage").bitwiseAND(int(flaw)) != 0)
    return record_finding(
        rows,
        severity=F.lit(severity),
        expected=expected,
        found=found,
        message=record_message(text),
    )
