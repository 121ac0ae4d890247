"""
Invariants of a readable record's content: properties, flags, store time and body.
"""

from __future__ import annotations

from spark_checks.columns.record_damage import CLOCK_TOLERANCE_MS, RecordDamage
from spark_checks.tables.finding_rows import RECORD, Rule, has_damage
from spec.wire.bodies.zlib_stream import COMPRESSION_TYPE, LZ4_TYPE, ZSTD_TYPE


def _rule(
    invariant: str,
    damage: RecordDamage,
    sentence: str,
    *,
    expected: str,
    found: str,
) -> Rule:
    return Rule(
        invariant=invariant,
        is_broken=has_damage(damage),
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
        "INV-LOG-006",
        RecordDamage.PROPERTIES,
        "has properties that are not all names and values.",
        expected="names and values, each with its separator",
        found="a missing or additional separator, or zeros",
    ),
    _rule(
        "INV-LOG-007",
        RecordDamage.FLAGS,
        "has unknown system flags.",
        expected="known system flags",
        found="0x{system_flags:x}",
    ),
    _rule(
        "INV-LOG-008",
        RecordDamage.TIME,
        "has a store time long before the first of its file.",
        expected=f"at most {CLOCK_TOLERANCE_MS} ms before the first of its file",
        found="{stored_at_ms}",
    ),
    _rule(
        "INV-LOG-009",
        RecordDamage.COMPRESSION,
        "has a compression flag and an uncompressed body.",
        expected=f"a body in {_CODEC}'s format",
        found="other bytes, with the right checksum",
    ),
    _rule(
        "INV-LOG-010",
        RecordDamage.CHECKSUM,
        "differs from the checksum at its end.",
        expected="the checksum that ends its properties, __CRC32#",
        found="another, beside records with a correct one",
    ),
    _rule(
        "INV-LOG-011",
        RecordDamage.PORT,
        "has a host with a port that does not exist.",
        expected="ports of 0 to 65535",
        found="another number",
    ),
    _rule(
        "INV-LOG-012",
        RecordDamage.HALF_OFFSET,
        "has a prepared transaction offset, but no commit made it.",
        expected="a prepared transaction offset of 0",
        found="another offset",
    ),
    _rule(
        "INV-LOG-013",
        RecordDamage.RANGE,
        "has an impossible born time or delivery count.",
        expected="a born time from 1970 to 9999, a delivery count of 0 or more",
        found="another value",
    ),
)
"""Rules about a record's content, one for each kind of damage."""
