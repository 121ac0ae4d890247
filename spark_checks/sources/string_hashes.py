"""
Java's hashes of many strings at once.

Those of one length are hashed together, a byte of each after the other. What is not
ASCII is left to the plain way (:func:`spec.integers.java_string_hash`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints, Places
from spark_checks.sources.record_properties import bytes_at

Codes = npt.NDArray[np.uint32]
powers: Codes = np.cumprod(np.where(np.arange(32768) == 0, 1, 31), dtype=np.uint32)
"""By which the hash of a prefix is multiplied, by the length of what follows."""


def string_hashes(
    data: bytes, values: Places, *, besides: bytes = b""
) -> Iterator[tuple[Ints, Codes]]:
    """Yield indices into *values* and their hashes; what is not plain is left out.

    What is not ASCII is not plain, and what has the byte *besides*.
    """
    begins, lengths = values
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        index = np.flatnonzero(lengths == length)
        text = bytes_at(data, begins[index], length)
        odd = text >= 0x80
        if besides:
            odd |= text == besides[0]
        if odd.any():
            plain = ~np.logical_or.reduce(odd, axis=1)
            index, text = index[plain], text[plain]
        codes: Codes = (text * powers[:length][::-1]).sum(axis=1, dtype=np.uint32)
        yield index, codes
