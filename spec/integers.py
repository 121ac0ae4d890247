"""
Java's integers, hashes and checksums, as far as the formats need them.

Java's numbers are signed and wrap; Python's are not and do not. Every number on a
connection or on disk has one of these ranges.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

from spec.clause import Clause, Level

CRC_IS_POSITIVE = Clause(
    id="STORE-CRC-001",
    level=Level.MUST,
    text="A body's checksum is its CRC-32 with the sign bit cleared.",
    source="4.6.0 org.apache.rocketmq.common.UtilAll#crc32",
    issues=("mxsm/rocketmq-rust#425",),
    hints=(("the sign bit is set", "was CRC-32 stored without & 0x7FFFFFFF?"),),
)

TAG_HASH_IS_JAVA_STRING_HASH = Clause(
    id="STORE-TAGS-001",
    level=Level.MUST,
    text="The tags code of a message is Java's String.hashCode of its TAGS property.",
    source="4.6.0 org.apache.rocketmq.store.MessageExtBrokerInner#tagsString2tagsCode",
)

INT8_MIN, INT8_MAX = -(2**7), 2**7 - 1
INT16_MIN, INT16_MAX = -(2**15), 2**15 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_DECIMAL = re.compile(r"([+-]?)0*(\d{1,19})")


def java_int(value: int) -> int:
    """Return *value* wrapped into Java's 32-bit int."""
    return (value + 2**31) % 2**32 - 2**31


def parse_java_int(text: str | None) -> int | None:
    """Return the int that Java's Integer#parseInt reads; None where it raises."""
    return _parse(text, INT32_MIN, INT32_MAX)


def parse_java_long(text: str | None) -> int | None:
    """Return the long that Java's Long#parseLong reads; None where it raises."""
    return _parse(text, INT64_MIN, INT64_MAX)


def _parse(text: str | None, least: int, most: int) -> int | None:
    found = None if text is None else _DECIMAL.fullmatch(text)
    if found is None:
        return None
    value = int("".join(found.groups()))  # Python refuses 4,301 digits
    return value if least <= value <= most else None


def java_string_hash(text: str) -> int:
    """Return Java's String.hashCode of *text*, a signed 32-bit integer.

    Java hashes UTF-16 code units, so a character outside the basic plane counts
    as two.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (code * 31 + (high << 8 | low)) & 0xFFFFFFFF
    return java_int(code)


def tags_code(tags: str | None) -> int:
    """Return the tags code of a TAGS property; 0 for a message without tags."""
    return java_string_hash(tags) if tags else 0


def body_crc(
    body: bytes | memoryview,
    crc32: Callable[[bytes | memoryview], int] = zlib.crc32,
) -> int:
    """Return the checksum that a record stores for *body*: 0 <= crc < 2**31.

    *crc32* computes a CRC-32 of bytes; a caller may pass a faster one.
    """
    return crc32(body) & 0x7FFFFFFF
