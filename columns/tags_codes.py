"""
Tags codes of many records: Java's hash of each record's TAGS property.
"""

from __future__ import annotations

import numpy as np

from columns.gather import Ints
from columns.record_properties import Properties
from spec.integers import tags_code


def hashed_tags(split: Properties) -> Ints:
    """Return the tags code of each record; 0 without TAGS."""
    tags = split.values[b"TAGS"]
    codes = tags.codes.view(np.int32).astype(np.int64)
    for at, value in split.fallback_values(b"TAGS", tags.sizes > 0):
        codes[at] = tags_code(value.decode("utf-8", "replace"))
    return codes
