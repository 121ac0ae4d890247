"""
Records that disagree with the checksum at their end (__CRC32#).

A delivered or retried message keeps its properties. A broker without such checksums
therefore leaves an old one among them. A record is checked only between two that agree
with theirs, because their broker made checksums.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from columns.gather import Ints
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum

SAMPLE = encode_checksum(b"")
"""End of a record with a checksum; digits are placeholders."""
MARK_PLACES = (0, SAMPLE.index(b"#"), CHECKSUM_SIZE - 1)
"""Bytes of SAMPLE that exclude most records without a checksum."""


def disagreeing(data: bytes, starts: Ints, ends: Ints) -> Ints:
    """Return the numbers of the records at *starts* of *data* that disagree.

    The records are consecutive, and have their *ends*. The first is checked by the two
    behind it. The last may be the torn end of a log, and is not checked.
    """
    nothing: Ints = np.zeros(0, dtype=np.int64)
    marked = _marked(data, ends)
    if not marked.any():
        return nothing
    view = memoryview(data)
    known = np.zeros(len(starts), dtype=np.int8)
    for number in np.flatnonzero(marked).tolist():
        found = agrees(view[int(starts[number]) : int(ends[number])])
        known[number] = 0 if found is None else (1 if found else -1)
    before, after = np.roll(known, 1), np.roll(known, -1)
    before[0] = known[2] if len(known) > 2 else 0
    after[-1] = 0
    wrong: Ints = np.flatnonzero((known < 0) & (before > 0) & (after > 0))
    return wrong


def _marked(data: bytes, ends: Ints) -> npt.NDArray[np.bool_]:
    """Return the mask of records with these *ends* that seem to have a checksum."""
    found = np.ones(len(ends), dtype=np.bool_)
    octets = np.frombuffer(data, dtype=np.uint8)
    for place in MARK_PLACES:
        found &= octets[ends - CHECKSUM_SIZE + place] == SAMPLE[place]
    return found
