"""
A commit log is all messages of a broker, one record after the other.

It consists of files of one size, named after the offset of their first byte. A blank
ends a full file, and zeros fill the current one. The log has no index of its own: the
begin of a record follows from the previous record, or from a consume queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spec.clause import Clause, Level
from spec.layout import LayoutError
from spec.store.blank import BLANK_MAGIC, Blank, decode_blank
from spec.store.message_record import Record, decode_record, size_of_record

FILE_SIZE_DEFAULT = 1024 * 1024 * 1024
"""Bytes of a commit-log file by default (mappedFileSizeCommitLog)."""
RECOVERED_FILES_MAX = 10
"""Files at the end where recovery since 5.4 may begin (commitLogRecoverMaxNum)."""

_LOG = "4.6.0 org.apache.rocketmq.store.CommitLog"

LOG_IS_CONTIGUOUS = Clause(
    id="STORE-LOG-001",
    level=Level.MUST,
    text=(
        "In a commit-log file a record or the blank begins at the end of the "
        "previous record, the first at byte 0."
    ),
    source=f"{_LOG}$DefaultAppendMessageCallback#doAppend",
)
LOG_FILE_SIZE = Clause(
    id="STORE-LOG-002",
    level=Level.MUST,
    text="Every file of a commit log has the configured size.",
    source="4.6.0 org.apache.rocketmq.store.MappedFileQueue#load",
)
LOG_ZEROS_END_IT = Clause(
    id="STORE-LOG-003",
    level=Level.MUST,
    text="The unused part of a commit-log file holds zeros.",
    source="4.6.0 org.apache.rocketmq.store.MappedFile#init",
)
LOG_NO_RECORD_SPANS = Clause(
    id="STORE-LOG-004",
    level=Level.MUST,
    text="No record spans two files.",
    source=f"{_LOG}$DefaultAppendMessageCallback#doAppend",
)
LOG_STORE_TIMES = Clause(
    id="STORE-LOG-005",
    level=Level.SHOULD,
    text=(
        "Store times do not decrease from one record to the next while the broker's "
        "clock does not."
    ),
    source=f"{_LOG}#putMessage",
)
SCAN_STOPS = Clause(
    id="REC-SCAN-001",
    level=Level.MUST,
    text=(
        "Recovery ends the commit log before the first bytes that are neither a "
        "whole record with valid magic, sizes and checksum nor a blank."
    ),
    source=f"{_LOG}#checkMessageAndReturnSize",
)
SCAN_NEXT_FILE = Clause(
    id="REC-SCAN-002",
    level=Level.MUST,
    text="Recovery continues with the next file when it meets a blank.",
    source=f"{_LOG}#recoverNormally",
)
SCAN_SIZES_AGREE = Clause(
    id="REC-SCAN-003",
    level=Level.MUST,
    text=(
        "Recovery treats a record as invalid if its size is not the sum of its fields."
    ),
    source=f"{_LOG}#calMsgLength",
)
SCAN_PLACE_IS_NOT_CHECKED = Clause(
    id="REC-SCAN-004",
    level=Level.QUIRK,
    text="Recovery after a clean stop does not compare a record's physical offset with"
    " its place.",
    source=f"{_LOG}#recoverNormally",
)
SCAN_EMPTY_BODY = Clause(
    id="REC-SCAN-005",
    level=Level.QUIRK,
    text="Recovery does not check the checksum of a record without a body.",
    source=f"{_LOG}#checkMessageAndReturnSize",
)
SCAN_NEGATIVE_BODY = Clause(
    id="REC-SCAN-006",
    level=Level.QUIRK,
    text="Recovery reads a negative body size or properties size as 0.",
    source=f"{_LOG}#calMsgLength",
    untestable="no release writes one, and scan() takes such a record for broken",
)
SCAN_PROPERTIES_CRC = Clause(
    id="REC-SCAN-009",
    level=Level.QUIRK,
    text=(
        "From 5.2 to 5.3, a start with forceVerifyPropCRC after an orderly stop drops "
        "the last file of a commit log that was stored without enabledAppendPropCRC."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#recoverNormally",
    since="5.2",
    until="5.3",
    issues=("apache/rocketmq#7480",),
)
SCAN_PROPERTIES_CRC_OF_TEN_FILES = Clause(
    id="REC-SCAN-014",
    level=Level.QUIRK,
    text=(
        "From 5.4 on, a start with forceVerifyPropCRC after an orderly stop drops the "
        "last ten files (commitLogRecoverMaxNum) of a commit log that was stored "
        "without enabledAppendPropCRC."
    ),
    source="5.4.0 org.apache.rocketmq.store.CommitLog#recoverNormally, "
    "isMappedFileMatchedRecover",
    since="5.4",
    issues=("apache/rocketmq#7480",),
)


class Stop(StrEnum):
    """Why a scan ended."""

    END = "end"
    """The data ended with a record's last byte."""
    BLANK = "blank"
    """A blank fills the rest of the file."""
    ZEROS = "zeros"
    """Nothing has been written from here on."""
    BROKEN = "broken"
    """The bytes here are not a record; see the scan's error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRecord:
    """A record and where it lies."""

    offset: int
    """Offset of its first byte in the commit log; should equal its physical offset."""
    size: int
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Content of a piece of a commit log, up to the first invalid record."""

    records: tuple[PlacedRecord, ...]
    end_offset: int
    """Commit-log offset after the last good record."""
    stop: Stop
    blank: Blank | None = None
    error: LayoutError | None = None
    """Error at *end_offset*; its own offset counts from there."""


def scan(
    data: bytes | memoryview, base_offset: int = 0, *, check_crc: bool = True
) -> Scan:
    """Return the records of *data*, whose first byte is at *base_offset* of the log."""
    view = memoryview(data)
    found: list[PlacedRecord] = []
    position = 0
    while True:
        rest = view[position:]
        stop = stop_at(rest)
        error: LayoutError | None = None
        if stop is None:
            try:
                record = decode_record(rest, check_crc=check_crc)
            except LayoutError as reason:
                stop, error = Stop.BROKEN, reason
            else:
                size = size_of_record(rest)
                place = base_offset + position
                found.append(PlacedRecord(offset=place, size=size, record=record))
                position += size
                continue
        return Scan(
            records=tuple(found),
            end_offset=base_offset + position,
            stop=stop,
            blank=decode_blank(rest) if stop is Stop.BLANK else None,
            error=error,
        )


def stop_at(rest: memoryview) -> Stop | None:
    """Return why a scan ends before *rest*, or None where a record may begin."""
    if not rest:
        return Stop.END
    words = bytes(rest[:8])
    if words == bytes(len(words)):
        return Stop.ZEROS
    if words[4:] == BLANK_MAGIC.to_bytes(4, "big"):
        return Stop.BLANK if words[0] < 0x80 and words[:4] >= b"\0\0\0\x08" else None
    return None
