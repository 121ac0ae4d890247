"""
Sums of rows by group: the rows of a queue, or of a block of one.

A sum does not depend on the order of its rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Bools, Ints
from columns.numbers.long_hashes import hash_of_longs


@Accelerated
def add_rows(
    groups: Ints,
    needed: Bools,
    ranged: Bools,
    columns: tuple[Ints, ...],
    sums: npt.NDArray[np.int64],
) -> None:
    """Add rows to the *sums* of their groups, a column for each group."""
    queue_offsets = columns[0]
    identity = hash_of_longs(*columns)
    np.add.at(sums[0], groups, 1)
    np.add.at(sums[1], groups, needed.astype(np.int64))
    np.minimum.at(sums[2], groups[ranged], queue_offsets[ranged])
    np.maximum.at(sums[3], groups[ranged], queue_offsets[ranged])
    np.bitwise_xor.at(sums[4], groups, np.where(needed, identity, 0))
