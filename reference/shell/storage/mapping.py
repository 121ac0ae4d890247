"""
Mappings of a store's files into memory.

The module mmap of Python before 3.13 keeps a second file descriptor for each mapping.
A broker of ten thousand queues has ten thousand files open, and many systems permit
twenty thousand descriptors. A file is therefore mapped by the C library in place of
anonymous pages, for which Python needs no descriptor.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache

from columns.file_holes import ranges_with_data

_FIXED = 0x10
"""MAP_FIXED of Linux and macOS, which the module mmap lacks."""
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
"""MAP_NORESERVE: a file may be larger than the machine's memory."""


def writable_map(descriptor: int, size: int) -> mmap.mmap:
    """Return a map of the first *size* bytes of an open file that has as many.

    OSError: the system refuses.
    """
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    return _mapped(descriptor, size, protection, [(0, size)])


def read_only_map(descriptor: int, size: int, *, is_in_memory: bool) -> mmap.mmap:
    """Return a map of the first *size* bytes of an open file; OSError if refused.

    The caller may not write to the map, not even where it would be possible. In a file
    system in memory (*is_in_memory*: tmpfs), a read of a hole through a mapping
    allocates a page. If none is free, it ends the process with SIGBUS. The holes of
    those files are therefore anonymous zero pages, which take no memory, and only the
    data is mapped.
    """
    ranges: Iterable[tuple[int, int]] = [(0, size)]
    if is_in_memory:
        ranges = ranges_with_data(descriptor, 0, size)
    return _mapped(descriptor, size, mmap.PROT_READ, ranges)


def _mapped(
    descriptor: int, size: int, protection: int, ranges: Iterable[tuple[int, int]]
) -> mmap.mmap:
    """Return *size* bytes: those in *ranges* are the file's, the others zeros."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    mapped = mmap.mmap(-1, size, flags=flags)
    first = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    flags = mmap.MAP_SHARED | _FIXED
    for begin, end in ranges:
        begin -= begin % mmap.PAGESIZE
        wanted = first + begin
        place = _system_mmap()(
            wanted, end - begin, protection, flags, descriptor, begin
        )
        if place != wanted:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
    return mapped


@cache
def _system_mmap() -> Callable[..., int]:
    """Return mmap of the C library, with offsets of 64 bits."""
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "mmap64", None) or library.mmap
    words = ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64
    function.argtypes, function.restype = words, ctypes.c_void_p
    return function
