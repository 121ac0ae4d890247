"""Places of texts, as columns have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columns.gather import Places
from columns.uint64_words import WORD


def laid_out(each: Sequence[bytes]) -> tuple[bytes, Places]:
    """Return *each* end to end, behind a padding word."""
    sizes = np.array([len(text) for text in each], dtype=np.int64)
    return b"\xff" * WORD + b"".join(each), (WORD + np.cumsum(sizes) - sizes, sizes)
