"""
Which plain functions have a fast twin, and how the twins are put in their places.

What numba has compiled is kept in the user's cache, in a directory for the kernels as
they are now: so it takes four seconds once, and a third of one from then on.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

from spark_checks.sources import (
    consume_queue,
    everyday,
    gather,
    index,
    key_hashes,
    ledger,
    log_batch,
    record_properties,
    spark_hash,
    string_hashes,
    sums,
    topics,
    words,
)


@cache
def use_kernels() -> bool:
    """Put the fast twins in their places, and return whether they could be had.

    They cannot without numba, as on a cluster's workers, where this module comes in an
    archive, nor where compiled code can be kept nowhere.
    """
    if not Path(__file__).exists():
        return False
    try:
        known = twins()
    except Exception:  # whatever numba stumbles over, the plain way goes on
        return False
    for plain, fast in known:
        plain.fast = fast
    return True


def twins() -> list[tuple[Any, Any]]:
    """Return plain functions and their fast twins; raise whatever keeps us from it."""
    import numba

    numba.config.CACHE_DIR = str(_directory())
    from spark_checks.kernels import (
        chains,
        checksums,
        following,
        gathering,
        long_hashes,
        naming,
        numbers,
        splitting,
        strings,
        units,
    )

    known = [
        (consume_queue.written_among, units.written_among),
        (gather.gather_alike, gathering.gather_alike),
        (index.chains, chains.chains),
        (key_hashes.hashed, strings.key_hashes),
        (ledger.are_ids, numbers.are_ids),
        (ledger.numbers_listed, numbers.numbers_listed),
        (ledger.queue_numbers, numbers.queue_numbers),
        (log_batch.follow_sizes, following.follow_sizes),
        (record_properties.places_named, naming.places_named),
        (record_properties.properties_of, splitting.properties_of),
        (record_properties.places_once, naming.places_once),
        (spark_hash.hash_of_longs, long_hashes.hash_of_longs),
        (spark_hash.xor_of, long_hashes.xor_of),
        (string_hashes.string_hashes, strings.string_hashes),
        (sums.sums_of_units, units.sums_of_units),
        (topics.first_alike, strings.first_alike),
        (words.text_hashes, strings.text_hashes),
    ]
    if checksums.FUNCTION is not None:
        from spark_checks.kernels.everyday import everyday_of

        known += [
            (log_batch.body_crcs, checksums.body_crcs),
            (everyday.everyday_of, everyday_of),
        ]
    return known


def _directory() -> Path:
    """Return the directory of the user's cache for the kernels as they are now."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    state = hashlib.sha256()
    for package in (Path(__file__).parent, Path(gather.__file__).parent):
        for source in sorted(package.glob("*.py")):  # kernels have constants of theirs
            state.update(source.read_bytes())
    return Path(root) / "rocketmq-conformance" / "kernels" / state.hexdigest()[:16]
