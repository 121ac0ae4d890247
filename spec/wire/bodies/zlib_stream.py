"""Compressed bodies: their types, and zlib streams, of which few bytes may be many."""

from __future__ import annotations

import zlib

from spec.layout import LayoutError

COMPRESSION_TYPE = 7 << 8
"""Bits of a message's system flags (Java: COMPRESSION_TYPE_COMPARATOR)."""
LZ4_TYPE, ZSTD_TYPE = 1 << 8, 2 << 8
ZLIB_TYPES = (0, 3 << 8)
"""Types of zlib: none, as before 5.0, and its own."""


def inflate(data: bytes, size_max: int) -> bytes:
    """Return the inflated *data*.

    Raises zlib.error for what is no zlib stream, and LayoutError where one has no end
    or is of over *size_max* bytes.
    """
    inflater = zlib.decompressobj()
    inflated = inflater.decompress(data, size_max)
    if inflater.unconsumed_tail:
        raise LayoutError(f"inflates to over {size_max} bytes", field="body")
    if not inflater.eof:
        raise LayoutError("a zlib stream without its end", field="body")
    return inflated
