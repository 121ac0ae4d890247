"""
The checksums of bodies, by a library that is called from compiled code.

Nine tenths of the time of :func:`spark_checks.sources.log_batch.body_crcs` go into the
call from Python. isal is asked where its function is, and that it does what it should.
"""

from __future__ import annotations

import ctypes
import zlib

import numpy as np
from numba import njit, types

from spark_checks.kernels.memory import DATA, INTS, OPTIONS, crc32_by, of_each
from spark_checks.sources.gather import Ints, Places

_SAMPLE = bytes(range(256)) * 5


def crc_function() -> int | None:
    """Return the address of a function for checksums; None if nobody has one."""
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
    """Return the checksum that each of the *bodies* should have been stored with."""
    found: Ints = of_each(_checksums, data, bodies, np.int64, FUNCTION)
    return found


@njit(types.void(DATA, INTS, INTS, types.int64, INTS), **OPTIONS)
def _checksums(data, begins, sizes, function, found):
    for index in range(len(begins)):
        whole = crc32_by(function, data, begins[index], sizes[index])
        found[index] = whole & 0x7FFFFFFF
