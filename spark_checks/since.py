"""
Audit of the later part of a log: records stored at or after a time.

The log is treated as if all earlier records had been deleted. It begins at the first
record stored late enough. Findings about earlier records are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from columns.log_batch import LogBatch
from columns.scan.record_scan import scan_range
from spark_checks.file_systems import NotAStoreError, reading, shown_url
from spark_checks.findings import Finding
from spark_checks.store_files import (
    Store,
    StoreFile,
    index_header,
    queue_of,
    read_whole,
    stored_at_ms,
)
from spec.store.consume_queue import UNIT_SIZE, decode_unit


class NothingSinceError(NotAStoreError):
    """No record of a store is late enough."""


def part_since(store: Store, since_ms: int) -> Store:
    """Return the part of *store* since *since_ms*, or raise NothingSinceError.

    Files with earlier records only are left out.
    """
    files = _from_last_earlier(store, since_ms)
    found = (_first_since(store, file, since_ms) for file in files)
    begin = next((offset for offset in found if offset is not None), None)
    if begin is None:
        moment = datetime.fromtimestamp(since_ms / 1000, UTC).isoformat()
        raise NothingSinceError(
            f"{shown_url(store.url)}: no record was stored at {moment} or later"
        )
    later = tuple(file for file in store.files if not _is_earlier(store, file, begin))
    return replace(store, begin=begin, files=later)


def _from_last_earlier(store: Store, since_ms: int) -> Sequence[StoreFile]:
    """Return the log's files from the last one that begins before *since_ms*."""
    files = store.commit_log
    for index in range(len(files) - 1, -1, -1):
        begun_ms = stored_at_ms(store, files[index].base)
        if begun_ms is not None and begun_ms < since_ms:
            return files[index:]
    return files


def _first_since(store: Store, file: StoreFile, since_ms: int) -> int | None:
    """Return the offset of the first record stored since *since_ms*, or None.

    A record that is not at its own offset does not count.
    """
    with reading(store.url, file.path) as read_at:
        for found in scan_range(read_at, file.whole):
            if isinstance(found, LogBatch):
                numbers = found.fields.numbers
                is_late = numbers["stored_at_ms"] >= since_ms
                is_late &= numbers["physical_offset"] == found.offsets
                if is_late.any():
                    return int(found.offsets[is_late][0])
    return None


def _is_earlier(store: Store, file: StoreFile, begin: int) -> bool:
    """Return whether *file* holds nothing from commit-log offset *begin* on."""
    if file.directory == "commitlog" and file.is_named_by_offset:
        return file.base + max(file.size, 1) <= begin
    if file.directory == "index" and file.is_named_by_time:
        header = index_header(store, file)
        return (
            header is not None
            and header.index_count > 1
            and 0 < header.end_offset < begin
        )
    return False


def is_about_earlier(store: Store, finding: Finding) -> bool:
    """Return whether *finding* is about a queue file of earlier records.

    That is so if the queue's next file begins with a unit of an earlier record.
    """
    if not store.begin or not finding.invariant.id.startswith("INV-FILE-"):
        return False
    if queue_of(finding.file) is None:
        return False
    later = [
        file
        for file in store.under(finding.file.rpartition("/")[0])
        if file.path > finding.file and file.is_named_by_offset
    ]
    if not later or later[0].size < UNIT_SIZE:
        return False
    unit = decode_unit(read_whole(store.url, later[0], size_max=UNIT_SIZE))
    return unit.size > 0 and unit.commit_log_offset <= store.begin
