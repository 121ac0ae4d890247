"""Inflating zlib streams of peers: a few kilobytes may stand for gigabytes."""

from __future__ import annotations

import zlib

from spec.layout import LayoutError


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
