"""
Bodies as they were before the producer compressed them.

A 4.6.0 client knows zlib only, and takes everything for it. Producers since 5.0 may use
another method, and say so; a consumer of this reference reads them all.
"""

from __future__ import annotations

import zlib

import pyarrow

from spec.layout import LayoutError

_METHOD_SHIFT = 8
_METHOD_MASK = 7
_CODECS = {1: "lz4", 2: "zstd"}
_ZLIB = frozenset({0, 3})


def inflated(body: bytes, system_flags: int) -> bytes:
    """Return what the compressed *body* of a message was made of."""
    method = system_flags >> _METHOD_SHIFT & _METHOD_MASK  # [CLIENT-PULL-009]
    try:
        if method in _ZLIB:
            return zlib.decompress(body)
        if method in _CODECS:
            source = pyarrow.BufferReader(body)
            return bytes(pyarrow.CompressedInputStream(source, _CODECS[method]).read())
    except (zlib.error, OSError) as error:
        raise LayoutError(f"cannot be inflated: {error}", field="body") from error
    raise LayoutError(f"compressed by the unknown method {method}", field="body")
