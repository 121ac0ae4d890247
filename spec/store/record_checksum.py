"""
The checksum at the end of a record, over all earlier bytes of the record.

A record's own checksum covers its body only: a changed topic, queue offset or property
stays undetected. From 5.2 on a broker with enabledAppendPropCRC (off by default) ends
the properties of each record with __CRC32#, of a fixed size. With forceVerifyPropCRC
(off by default) a start compares it instead of the body's.
"""

from __future__ import annotations

from spec.clause import Clause, Level
from spec.integers import body_crc
from spec.wire.message.properties import NAME_END, VALUE_END, Property

DIGITS = 10
_BEGIN = f"{Property.CRC32}{NAME_END}"
_BEGIN_BYTES = _BEGIN.encode("ascii")
CHECKSUM_SIZE = len(_BEGIN) + DIGITS + len(VALUE_END)
"""Bytes at the end of a record (Java: CRC32_RESERVED_LEN)."""

_LOG = "5.3.3 org.apache.rocketmq.store.CommitLog"

RECORD_CHECKSUM = Clause(
    id="STORE-RECORD-021",
    level=Level.MUST,
    text=(
        "From 5.2 on, with enabledAppendPropCRC the properties of a record end with "
        "__CRC32#, the CRC-32, sign bit cleared, of all bytes of the record before "
        "this property."
    ),
    source=f"{_LOG}$DefaultAppendMessageCallback#doAppend",
    since="5.2",
)
RECORD_CHECKSUM_DIGITS = Clause(
    id="STORE-RECORD-022",
    level=Level.QUIRK,
    text=(
        "The value of __CRC32# is ten decimal digits, the last digit first, padded "
        "with zeros at the end."
    ),
    source="5.3.3 org.apache.rocketmq.common.message.MessageDecoder#createCrc32",
    since="5.2",
)


def encode_checksum(before: bytes | memoryview) -> bytes:
    """Return the property that ends a record of which *before* are the bytes so far.

    The record's sizes, in *before*, already count these bytes.
    """
    digits = str(body_crc(bytes(before)))[::-1].ljust(DIGITS, "0")
    return f"{_BEGIN}{digits}{VALUE_END}".encode("ascii")


def stated_checksum(record: bytes | memoryview) -> int | None:
    """Return the checksum that ends *record*; None where none does."""
    end = bytes(record[-CHECKSUM_SIZE:])
    if not end.startswith(_BEGIN_BYTES):  # most records have none
        return None
    digits = end[len(_BEGIN_BYTES) : -len(VALUE_END)]
    if len(end) < CHECKSUM_SIZE or end[-1:] != b"\x02" or not digits.isdigit():
        return None
    return int(digits[::-1])


def agrees(record: bytes | memoryview) -> bool | None:
    """Return whether *record* has the checksum that ends it; None where none does."""
    stated = stated_checksum(record)
    if stated is None:
        return None
    return stated == body_crc(bytes(record[:-CHECKSUM_SIZE]))
