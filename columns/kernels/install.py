"""
The functions that have a kernel, and the installation of the kernels.

Compiled code stays in a cache, in a directory named after the sources. The first
process compiles for five seconds; later ones load the code in half a second.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from columns import log_batch, record_properties, topics, uint64_words
from columns.numbers import group_sums, index_items, long_hashes


@cache
def install_kernels(cache_path: Path) -> bool:
    """Install the kernels; return False where they are not available.

    They need numba, and a writable directory at *cache_path* for their code.
    """
    try:
        known = kernel_pairs(cache_path)
    except Exception:  # the fallbacks need no numba
        return False
    for function, kernel in known:
        function.kernel = kernel
    return True


def kernel_pairs(cache_path: Path) -> list[tuple[Any, Any]]:
    """Return pairs of a function and its kernel; any error of numba may be raised."""
    import numba

    numba.config.CACHE_DIR = str(_cache_directory(cache_path))
    from columns.kernels import log_records, numbers, split_properties, strings

    known = [
        (group_sums.add_rows, numbers.add_rows),
        (index_items.chains, numbers.chains),
        (log_batch.follow_sizes, log_records.follow_sizes),
        (long_hashes.hash_of_longs, numbers.hash_of_longs),
        (record_properties.properties_of, split_properties.properties_of),
        (topics.first_alike, strings.first_alike),
        (uint64_words.text_hashes, strings.text_hashes),
    ]
    if log_records.FUNCTION is not None:
        known.append((log_batch.body_crcs, log_records.body_crcs))
    return known


def _cache_directory(cache_path: Path) -> Path:
    """Return the cache directory of the kernels, named after their sources."""
    state = hashlib.sha256()
    # Kernels are compiled with functions and constants of these packages.
    packages = (__file__, log_batch.__file__, long_hashes.__file__)
    sources = [path for one in packages for path in Path(one).parent.glob("*.py")]
    for source in sorted(sources):
        state.update(source.read_bytes())
    return cache_path / "kernels" / state.hexdigest()[:16]
