"""
Which records disagree with the checksum at their end, where a broker wrote one.

A message that is delivered later, or comes again, takes its properties along, and a
broker that no longer makes such checksums leaves an old one among them. So a record is
asked only between two that agree with theirs: whoever stored those made this one's too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum

SAMPLE = encode_checksum(b"")
"""What a record with a checksum ends with, digits apart."""
TELLING = (0, SAMPLE.index(b"#"), CHECKSUM_SIZE - 1)
"""Bytes of it by which most records without one are passed over at once."""


def disagreeing(data: bytes, starts: Ints, ends: Ints) -> Ints:
    """Return the numbers of the records at *starts* of *data* that disagree.

    They follow one another, and have their *ends*. The first is asked by the two behind
    it; the last, with which a log may end, is not.
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
    """Return which of the records with these *ends* seem to end with a checksum."""
    found = np.ones(len(ends), dtype=np.bool_)
    octets = np.frombuffer(data, dtype=np.uint8)
    for place in TELLING:
        found &= octets[ends - CHECKSUM_SIZE + place] == SAMPLE[place]
    return found
