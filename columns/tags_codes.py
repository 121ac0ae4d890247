"""
Tags codes of many records: Java's hash of each record's TAGS property.
"""

from __future__ import annotations

import numpy as np

from columns.gather import Ints
from columns.record_properties import Properties
from columns.string_hashes import string_hashes
from spec.integers import tags_code


def hashed_tags(split: Properties, count: int) -> Ints:
    """Return the tags code of each of *count* records; 0 without TAGS."""
    codes = np.zeros(count, dtype=np.int64)
    record, values = split.named(b"TAGS")
    left = np.ones(len(record), dtype=np.bool_)
    for index, hashes in string_hashes(split.text, values):
        codes[record[index]] = hashes.view(np.int32)
        left[index] = False
    begins, sizes = values
    for at in np.flatnonzero(left).tolist():
        begin = int(begins[at])
        tags = split.text[begin : begin + int(sizes[at])]
        codes[record[at]] = tags_code(tags.decode("utf-8", "replace"))
    return codes
