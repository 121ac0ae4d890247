"""
Kernel of body checksums: a C function called from compiled code.

The call from Python takes nine tenths of the time of
:func:`columns.log_batch.body_crcs`. The function is isal's, after a test on a sample.
"""

from __future__ import annotations

import ctypes
import zlib

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from spark_checks.kernels.memory import DATA, INTS, OPTIONS, crc32_by, of_each

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
