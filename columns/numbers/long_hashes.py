"""
Hashes of rows of 64-bit numbers.

The exclusive or of many hashes is a sum of their rows that does not depend on order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Ints

SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR, _LAST_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(words: Any) -> Any:
    """Return SplitMix64's mix of *words*, a numpy column or a number in a kernel.

    Each bit of a word changes about half of the bits of its mix.
    """
    words = (words ^ (words >> np.uint64(30))) * _FACTOR
    words = (words ^ (words >> np.uint64(27))) * _LAST_FACTOR
    return words ^ (words >> np.uint64(31))


@Accelerated
def hash_of_longs(*columns: npt.NDArray[Any]) -> Ints:
    """Return the hashes of rows of equally long *columns*."""
    codes: Any = SEED
    for column in columns:
        codes = mixed(codes ^ column.astype(np.uint64))
    found: Ints = codes.view(np.int64)
    return found
