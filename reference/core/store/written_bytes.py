"""The written part of a file: all up to its last byte that is not zero."""

from __future__ import annotations

from collections.abc import Callable

PIECE_SIZE = 1 << 20
"""Bytes of one read; a long file is not read whole."""


def written_size(read: Callable[[int, int], bytes], begin: int, end: int) -> int:
    """Return the position after the last byte from *begin* to *end* that is not zero.

    It is 0 without one. *read* returns the bytes between two positions.
    """
    while end > begin:
        start = max(end - PIECE_SIZE, begin)
        if data := read(start, end).rstrip(b"\0"):
            return start + len(data)
        end = start
    return 0
