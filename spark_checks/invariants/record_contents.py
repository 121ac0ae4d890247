"""
Invariants of a readable record's content: properties, flags, store time and body.
"""

from __future__ import annotations

from spark_checks.columns.record_damage import CLOCK_TOLERANCE_MS, RecordDamage
from spark_checks.findings import Invariant
from spark_checks.tables.finding_rows import ERROR, RECORD, WARNING, Rule, has_damage
from spec.store import message_record, record_checksum
from spec.store.recovery import recovery
from spec.wire.bodies.zlib_stream import COMPRESSION_TYPE, LZ4_TYPE, ZSTD_TYPE
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


def _rule(
    invariant: Invariant,
    damage: RecordDamage,
    sentence: str,
    *,
    expected: str,
    found: str,
    severity: str = WARNING,
) -> Rule:
    return Rule(
        invariant=invariant,
        is_broken=has_damage(damage),
        severity=severity,
        expected=expected,
        found=found,
        message=f"{RECORD} {sentence}",
    )


_CODEC = (
    f"{{decode(system_flags & {COMPRESSION_TYPE},"
    f" {LZ4_TYPE}, 'LZ4', {ZSTD_TYPE}, 'Zstandard', 'zlib')}}"
)
CONTENT_RULES = (
    _rule(
        PROPERTIES_PARSE,
        RecordDamage.PROPERTIES,
        "has properties that are not all names and values.",
        expected="names and values, each with its separator",
        found="a missing or additional separator, or zeros",
    ),
    _rule(
        FLAGS_KNOWN,
        RecordDamage.FLAGS,
        "has unknown system flags.",
        expected="known system flags",
        found="0x{system_flags:x}",
    ),
    _rule(
        TIMES_RISE,
        RecordDamage.TIME,
        "has a store time long before the first of its file.",
        expected=f"at most {CLOCK_TOLERANCE_MS} ms before the first of its file",
        found="{stored_at_ms}",
    ),
    _rule(
        BODY_INFLATES,
        RecordDamage.COMPRESSION,
        "has a compression flag and an uncompressed body.",
        expected=f"a body in {_CODEC}'s format",
        found="other bytes, with the right checksum",
    ),
    _rule(
        WHOLE_CHECKSUM,
        RecordDamage.CHECKSUM,
        "differs from the checksum at its end.",
        expected="the checksum that ends its properties, __CRC32#",
        found="another, beside records with a correct one",
        severity=ERROR,
    ),
    _rule(
        PORTS,
        RecordDamage.PORT,
        "has a host with a port that does not exist.",
        expected="ports of 0 to 65535",
        found="another number",
    ),
    _rule(
        HALF_OFFSET,
        RecordDamage.HALF_OFFSET,
        "has a prepared transaction offset, but no commit made it.",
        expected="a prepared transaction offset of 0",
        found="another offset",
    ),
    _rule(
        RANGE,
        RecordDamage.RANGE,
        "has an impossible born time or delivery count.",
        expected="a born time from 1970 to 9999, a delivery count of 0 or more",
        found="another value",
    ),
)
"""Rules about a record's content, one for each kind of damage."""
