"""
Wrong content of readable records: properties, flags, store time, body, checksum.

Each kind of damage is a bit. None of them stops a broker, which stores any valid frame.
Consumers and lookups fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from typing import Final

import numpy as np
import pyarrow as pa

from columns.gather import Bools, FieldColumns, Ints, values_of
from columns.key_hashes import KEY_NAMES
from columns.record_properties import Properties, properties_of
from spec.integers import INT64_MIN
from spec.store.message_record import SystemFlag
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum
from spec.wire.bodies.zlib_stream import (
    COMPRESSION_TYPE,
    LZ4_TYPE,
    ZLIB_TYPES,
    ZSTD_TYPE,
)
from spec.wire.message.properties import VALUE_END

try:
    from isal import isal_zlib as zlib
except ModuleNotFoundError:  # zlib takes up to twice the time, with the same results
    import zlib  # type: ignore[no-redef]

SAMPLE = encode_checksum(b"")
"""End of a record with a checksum; digits are placeholders."""
ROOM = VALUE_END.encode() + bytes(CHECKSUM_SIZE)
"""End of properties with room for a checksum that is not written: 5.2.0 and 5.3.0 leave
it in messages for LMQs (CommitLog.DefaultAppendMessageCallback
#handlePropertiesForLmqMsg)."""
MARK_PLACES = (SAMPLE.index(b"#"), CHECKSUM_SIZE - 1)
"""Bytes of SAMPLE that exclude most records without a checksum."""
KNOWN_FLAGS = 0x7FF
"""System flags with a meaning in some release; bits 8 to 10 since 5.0."""
INFLATED_MAX = 64 * 1024 * 1024
"""Largest number of inflated bytes to check."""
_INFLATED_AT_ONCE = 64 * 1024
_CODECS: Final = {
    kind: name
    for kind, name in ((LZ4_TYPE, "lz4"), (ZSTD_TYPE, "zstd"))
    if pa.Codec.is_available(name)
}
"""Arrow codecs of the other types, if Arrow was built with them. Its lz4 is the frame
format, as Java's (5.3.3 org.apache.rocketmq.common.compression.Lz4Compressor)."""
CLOCK_TOLERANCE_MS = 10_000
"""Clock corrections up to this many milliseconds are not reported."""
PORT_MAX = 0xFFFF
BORN_MAX_MS = 253_402_300_799_999
"""Last millisecond of the year 9999, above every born time."""


class RecordDamage(IntFlag):
    """Kinds of wrong content in a readable record."""

    PROPERTIES = 1
    """Properties are not all names and values."""
    FLAGS = 2
    """System flags include unknown bits."""
    TIME = 4
    """Store time is long before the first record of the file."""
    COMPRESSION = 8
    """The flag for compression is set, and the body is not compressed."""
    CHECKSUM = 16
    """Checksum at the end differs, and not because of the body alone."""
    PORT = 32
    """A port is negative or above 65535."""
    HALF_OFFSET = 64
    """A prepared transaction offset in a record that no commit made."""
    RANGE = 128
    """Born time or delivery count is a value that no client sends."""


def damage_of(
    data: bytes,
    fields: FieldColumns,
    properties: Properties,
    body_crcs: Ints,
    *,
    begun_at_ms: int | None,
) -> Ints:
    """Return the damage of the records of *data* with these *fields*.

    *begun_at_ms* is the store time of the file's first record, if known.
    """
    fixed, (begins, sizes) = fields.numbers, fields.places["body"]
    flags = fixed["system_flags"]
    found = np.zeros(len(flags), dtype=np.int64)
    for damage, is_damaged in _out_of_range(fixed, begun_at_ms).items():
        found[np.flatnonzero(is_damaged)] |= int(damage)
    found[_broken(data, fields, properties)] |= int(RecordDamage.PROPERTIES)
    compressed = (flags & SystemFlag.COMPRESSED != 0) & (fixed["body_crc"] == body_crcs)
    which = np.flatnonzero(compressed)
    bodies = values_of(data, (begins[which], sizes[which]))
    inflates = list(map(_inflates, bodies, flags[which].tolist()))
    found[which[np.logical_not(inflates)]] |= int(RecordDamage.COMPRESSION)
    wrong = _disagreeing(data, fields.ends - fixed["size"], fields.ends)
    marked = fixed["body_crc"][wrong] != body_crcs[wrong]
    found[wrong[~marked]] |= int(RecordDamage.CHECKSUM)
    return found


def _broken(data: bytes, fields: FieldColumns, properties: Properties) -> Ints:
    """Return the records with wrong properties, whose text may end with ROOM."""
    broken = properties.broken
    if not len(broken):
        return broken
    begins, sizes = (column[broken] for column in fields.places["properties"])
    texts = values_of(data, (begins, sizes))
    sizes = sizes - CHECKSUM_SIZE * np.array([text.endswith(ROOM) for text in texts])
    again = properties_of(data, begins, begins + sizes, KEY_NAMES)
    return broken[again.broken]


def _out_of_range(
    fixed: Mapping[str, Ints], begun_at_ms: int | None
) -> Mapping[RecordDamage, Bools]:
    """Return the masks of numbers with values that no broker or client writes."""
    ports = fixed["born_host_port"] | fixed["store_host_port"]
    born_at_ms, offset = fixed["born_at_ms"], fixed["prepared_transaction_offset"]
    is_never_sent = (born_at_ms < 0) | (born_at_ms > BORN_MAX_MS)
    of_no_commit = fixed["system_flags"] & SystemFlag.TRANSACTION_COMMIT == 0
    since_ms = INT64_MIN if begun_at_ms is None else begun_at_ms
    return {
        RecordDamage.FLAGS: fixed["system_flags"] & ~KNOWN_FLAGS != 0,
        RecordDamage.TIME: fixed["stored_at_ms"] + CLOCK_TOLERANCE_MS < since_ms,
        RecordDamage.PORT: ports & ~PORT_MAX != 0,
        RecordDamage.HALF_OFFSET: of_no_commit & (offset != 0),
        RecordDamage.RANGE: is_never_sent | (fixed["reconsume_times"] < 0),
    }


def _inflates(body: bytes, flags: int) -> bool:
    """Return whether *body* inflates by its *flags*; True if no codec is available."""
    kind = flags & COMPRESSION_TYPE
    if not body:  # Java accepts it empty, except as an LZ4 frame
        return kind != LZ4_TYPE
    if kind in ZLIB_TYPES:
        return _is_zlib(body)
    return kind not in _CODECS or _is_readable(body, _CODECS[kind])


def _is_readable(body: bytes, codec: str) -> bool:
    """Return whether Arrow decompresses *body* by *codec*, in bounded memory."""
    left = INFLATED_MAX
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), codec) as inflated:
            while left > 0 and (more := len(inflated.read(_INFLATED_AT_ONCE))):
                left -= more
    except OSError:
        return False
    return True


def _is_zlib(body: bytes) -> bool:
    try:
        inflater = zlib.decompressobj()
        more = inflater.decompress(body, INFLATED_MAX)
    except zlib.error:  # type: ignore[misc] # isal's stub calls it an object
        return False
    return inflater.eof or len(more) == INFLATED_MAX


def _disagreeing(data: bytes, starts: Ints, ends: Ints) -> Ints:
    """Return the numbers of the records at *starts* of *data* that disagree.

    The records are consecutive, and have their *ends*. A delivered or retried message
    keeps its properties, so a broker without such checksums leaves an old one among
    them. A record is therefore checked only between two that agree. The first is
    checked by the two behind it. The last may be the torn end of a log, and is not
    checked.
    """
    nothing: Ints = np.zeros(0, dtype=np.int64)
    marked = _marked(data, ends)
    if not len(marked):
        return nothing
    view = memoryview(data)
    known = np.zeros(len(starts), dtype=np.int8)
    for number in marked.tolist():
        found = agrees(view[int(starts[number]) : int(ends[number])])
        known[number] = 0 if found is None else (1 if found else -1)
    before, after = np.roll(known, 1), np.roll(known, -1)
    before[0] = known[2] if len(known) > 2 else 0
    after[-1] = 0
    wrong: Ints = np.flatnonzero((known < 0) & (before > 0) & (after > 0))
    return wrong


def _marked(data: bytes, ends: Ints) -> Ints:
    """Return the numbers of records with these *ends* that seem to have a checksum."""
    octets = np.frombuffer(data, dtype=np.uint8)
    begins = ends - CHECKSUM_SIZE
    found = np.flatnonzero(octets[begins] == SAMPLE[0])
    for place in MARK_PLACES:
        found = found[octets[begins[found] + place] == SAMPLE[place]]
    return found
