"""
Invariant of the records between two index files.

A broker begins the next file when one is full, so that no key lies between them. Only
the first records between them are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.index.index_headers import BEGIN_OFFSET_PLACE, item_range
from spark_checks.readers.record_keys import key_batches
from spark_checks.store_files import Store, StoreFile, reading


def check_index_gaps(store: Store) -> Iterator[Finding]:
    """Yield the gaps between the index files of *store*, at the file behind each.

    After a crash a broker deletes its last index files, and dispatches from the begin
    of a commit-log file again (4.6.0 store.CommitLog#recoverAbnormally). A gap that
    ends there has no finding.
    """
    ranges = [(file, item_range(store, file)) for file in store.index]
    known = [(file, *found) for file, found in ranges if found is not None]
    for (_, _, end_before), (file, begin, _) in pairwise(known):
        log_file = store.log_file_at(begin)
        if log_file is None or begin <= end_before:
            continue
        offset = _first_with_key(store, log_file, end_before, begin)
        if offset is not None:
            yield file_finding(
                "INV-INDEX-011",
                file.path,
                BEGIN_OFFSET_PLACE,
                expected=f"a begin offset of at most {offset}",
                found=f"begin_offset {begin}",
                message=f"{file.path} begins at commit-log offset {begin},"
                f" and the file before ends at {end_before}. The record at"
                f" {offset} between them has a key.",
            )


def _first_with_key(store: Store, file: StoreFile, after: int, end: int) -> int | None:
    """Return the first record with a key, behind *after* and before *end*."""
    base = file.base or 0
    where = replace(file.whole, start=max(after - base, 0), end=end - base)
    with reading(store.url, file.path) as read_at:
        for batch in key_batches(read_at, where, [(max(after + 1, base), end)]):
            for row in batch.to_pylist():
                if not row["is_tag"]:
                    return int(row["offset"])
    return None
