"""
Kernels of body checksums and record sizes; see :mod:`columns.log_batch`.

The call of a C function from Python takes nine tenths of the time of its checksums. The
function is isal's, after a test on a sample.
"""

from __future__ import annotations

import ctypes
import zlib

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from columns.kernels.memory import (
    DATA,
    INTS,
    OPTIONS,
    crc32_by,
    fetch_ahead,
    of_each,
)
from spec.store.message_record import SMALLEST_SIZE

_SAMPLE = bytes(range(256)) * 5


def crc_function() -> int | None:
    """Return the address of a CRC-32 function; None without isal."""
    try:
        from isal import isal_zlib

        library = ctypes.CDLL(isal_zlib.__file__)
        function = library.crc32_gzip_refl
    except (ImportError, OSError, AttributeError):
        return None
    function.restype = ctypes.c_uint32
    function.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
    if function(0, _SAMPLE, len(_SAMPLE)) != zlib.crc32(_SAMPLE):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


FUNCTION = crc_function()


def body_crcs(data: bytes, bodies: Places) -> Ints:
    """Return the computed checksum of each of the *bodies*."""
    found: Ints = of_each(_checksums, data, bodies, np.int64, FUNCTION)
    return found


@njit(types.void(DATA, INTS, INTS, types.int64, INTS), **OPTIONS)
def _checksums(data, begins, sizes, function, found):
    for index in range(len(begins)):
        whole = crc32_by(function, data, begins[index], sizes[index])
        found[index] = whole & 0x7FFFFFFF


def follow_sizes(data: bytes, position: int, *, most: int) -> tuple[Ints, int]:
    """Return the starts of up to *most* records by their sizes, and the end.

    Each record is complete; its content is not checked.
    """
    room = min(most, max(len(data) - position, 0) // SMALLEST_SIZE + 1)
    starts = np.empty(room, dtype=np.int64)
    view = np.frombuffer(data, dtype=np.uint8)
    count, end = _follow(view, position, starts)
    return starts[:count], end


@njit(types.UniTuple(types.int64, 2)(DATA, types.int64, INTS), **OPTIONS)
def _follow(data, position, starts):
    count = 0
    while count < len(starts) and position + 4 <= len(data):
        size = np.uint32(0)
        for index in range(4):
            size = (size << np.uint32(8)) | np.uint32(data[position + index])
        if size < SMALLEST_SIZE:
            break
        fetch_ahead(data, position + 4 * np.int64(size))
        starts[count] = position
        count += 1
        position += np.int64(size)
    if position > len(data):
        count -= 1
        position = starts[count]
    return count, position
