"""
Parts of a file that are not holes.

A broker maps whole files and writes them later. Unwritten parts are holes on most
disks, and read as zeros.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator


def ranges_with_data(descriptor: int, at: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the parts, from *at* to *stop*, that are not holes."""
    while at < stop:
        begin, end = _next_data(descriptor, at, stop)
        if begin < end:
            yield begin, end
        at = end


def _next_data(descriptor: int, at: int, stop: int) -> tuple[int, int]:
    """Return begin and end of the next part that is not a hole."""
    if not hasattr(os, "SEEK_DATA"):
        return at, stop
    try:
        begin = min(os.lseek(descriptor, at, os.SEEK_DATA), stop)
        return begin, min(os.lseek(descriptor, begin, os.SEEK_HOLE), stop)
    except OSError as error:
        # ENXIO: only a hole is left. Other errors: the file system has no SEEK_DATA.
        return (stop, stop) if error.errno == errno.ENXIO else (at, stop)
