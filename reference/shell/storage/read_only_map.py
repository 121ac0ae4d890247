"""
Maps of files that are only read.

On a file system in memory (tmpfs), a read of a hole through a mapping allocates a page.
If none is free, it ends the process with SIGBUS. The holes of those files are therefore
anonymous zero pages, which take no memory, and only the data is mapped from the file.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from reference.shell.storage.disk_space import ranges_with_data
from reference.shell.storage.holes import is_in_memory

_FIXED = 0x10
"""MAP_FIXED of Linux, which the module mmap lacks."""


def read_only_map(path: Path, file_number: int, size: int) -> mmap.mmap:
    """Return a map of the first *size* bytes of an open file; OSError if refused.

    The caller may not write to the map, not even where it would be possible.
    """
    if not is_in_memory(path):
        return mmap.mmap(file_number, size, access=mmap.ACCESS_READ)
    ranges = list(ranges_with_data(file_number, 0, size))
    if ranges == [(0, size)]:
        return mmap.mmap(file_number, size, access=mmap.ACCESS_READ)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mapped = mmap.mmap(-1, size, flags=flags)
    first = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    for begin, end in ranges:
        begin -= begin % mmap.PAGESIZE
        _map_at(first + begin, file_number, begin, end - begin)
    return mapped


def _map_at(address: int, file_number: int, begin: int, size: int) -> None:
    """Map a range of a file in place of the pages at *address*."""
    flags = mmap.MAP_SHARED | _FIXED
    place = _system_mmap()(address, size, mmap.PROT_READ, flags, file_number, begin)
    if place != address:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


@cache
def _system_mmap() -> Callable[..., int]:
    """Return mmap of the C library, with offsets of 64 bits."""
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "mmap64", None) or library.mmap
    words = ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64
    function.argtypes, function.restype = words, ctypes.c_void_p
    return function
