"""
What one record can tell is wrong with it, and that reading it does not show.

A flaw is a bit; a record has the sum of its flaws. None of them is a damage that stops
a broker: it stores what a producer sends. Readers are those who stumble.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from enum import IntFlag
from typing import Final

import numpy as np
import pyarrow as pa

from spark_checks.sources.gather import Ints
from spark_checks.sources.record_checksums import disagreeing
from spark_checks.sources.record_properties import Properties
from spec.store.message_record import SystemFlag

KNOWN_FLAGS = 0x7FF
"""System flags that some release gives a meaning to; bits 8 to 10 since 5.0."""
COMPRESSION_TYPE = 0x700
LZ4_TYPE, ZSTD_TYPE = 0x100, 0x200
ZLIB_TYPES = (0, 0x300)
"""Kinds of compression that are zlib: without a kind, as before 5.0, and named."""
INFLATED_MAX = 64 * 1024 * 1024
"""A body that inflates to more is not followed to its end."""
_INFLATED_AT_ONCE = 64 * 1024
_CODECS: Final = {
    kind: name
    for kind, name in ((LZ4_TYPE, "lz4"), (ZSTD_TYPE, "zstd"))
    if pa.Codec.is_available(name)
}
"""Arrow's names of the other kinds, unless it was built without them. Its lz4 is the
frame format, as Java's (5.3.3 org.apache.rocketmq.common.compression.Lz4Compressor)."""
CLOCK_TOLERANCE_MS = 10_000
"""A broker's clock may be put right by so much without a word."""


class Flaw(IntFlag):
    """Something that is wrong with a record that can be read."""

    PROPERTIES = 1
    """Its properties are not names and values."""
    FLAGS = 2
    """It has system flags of which nobody knows what they mean."""
    TIME = 4
    """It was stored long before the first record of its file."""
    COMPRESSION = 8
    """Its body is said to be compressed, and is not."""
    CHECKSUM = 16
    """It disagrees with the checksum at its end, and not by its body alone."""


def flaws_of(
    data: bytes,
    fixed: Mapping[str, Ints],
    body: tuple[Ints, Ints],
    properties: Properties,
    body_crcs: Ints,
    *,
    ends: Ints,
    begun_at_ms: int | None,
) -> Ints:
    """Return the flaws of records whose bodies, and whose *ends*, lie so in *data*.

    The first record of their file was stored at *begun_at_ms*, if that can be said.
    """
    flags = fixed["system_flags"]
    found = np.where(flags & ~KNOWN_FLAGS != 0, int(Flaw.FLAGS), 0).astype(np.int64)
    if begun_at_ms is not None:
        early = fixed["stored_at_ms"] + CLOCK_TOLERANCE_MS < begun_at_ms
        found[early] |= int(Flaw.TIME)
    found[properties.broken] |= int(Flaw.PROPERTIES)
    compressed = (flags & SystemFlag.COMPRESSED != 0) & (fixed["body_crc"] == body_crcs)
    for index in np.flatnonzero(compressed).tolist():
        begin, size = int(body[0][index]), int(body[1][index])
        if not _inflates(data[begin : begin + size], int(flags[index])):
            found[index] |= Flaw.COMPRESSION
    wrong = disagreeing(data, ends - fixed["size"], ends)
    told = fixed["body_crc"][wrong] != body_crcs[wrong]
    found[wrong[~told]] |= int(Flaw.CHECKSUM)
    return found


def _inflates(body: bytes, flags: int) -> bool:
    """Return whether *body* inflates, or nobody can tell, as its system *flags* say."""
    kind = flags & COMPRESSION_TYPE
    if not body:  # Java reads nothing of it, but asks for a frame of LZ4 first
        return kind != LZ4_TYPE
    if kind in ZLIB_TYPES:
        return _is_zlib(body)
    return kind not in _CODECS or _is_readable(body, _CODECS[kind])


def _is_readable(body: bytes, codec: str) -> bool:
    """Return whether Arrow reads *body* by its *codec*, of which it holds little."""
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
    except zlib.error:
        return False
    return inflater.eof or len(more) == INFLATED_MAX
