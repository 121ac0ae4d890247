"""
Stores that a running broker writes to.

Queues, index and configuration then are behind or ahead of the log that was read, and
each start or flush puts them right. An audit reports errors only, and only those that
a second audit finds again.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from pyarrow import fs

from spark_checks.file_systems import open_filesystem, reading
from spark_checks.findings import Finding
from spark_checks.store_files import Store, list_store
from spec.store.file_names import LOCK

try:
    import fcntl
except ImportError:  # not a POSIX system: locks cannot be queried
    fcntl = None  # type: ignore[assignment]

_LOCK_QUERY = "hhqqi4x"
"""Fields of struct flock in 64-bit Linux."""
_PEEKED = 8
"""Bytes at the end of the log that show whether a record was appended."""
LogEnd = tuple[tuple[str, ...], bytes]
"""Names of the commit-log files, and the bytes behind the last record."""


def log_end_of(store: Store, offset: int) -> LogEnd:
    """Return the present end of the log of *store*, at commit-log *offset*."""
    now = list_store(store.url)
    names = tuple(file.path for file in now.commit_log)
    file = now.log_file_at(offset)
    if file is None:
        return names, b""
    with reading(store.url, file.path) as read_at:
        return names, read_at(offset - file.base, _PEEKED)


def is_locked(store: Store) -> bool:
    """Return whether another process of this machine holds the lock of *store*."""
    system, root = open_filesystem(store.url)
    if not isinstance(system, fs.LocalFileSystem) or fcntl is None:
        return False
    try:
        with Path(root, LOCK).open("rb") as file:
            query = struct.pack(_LOCK_QUERY, fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
            found = fcntl.fcntl(file, fcntl.F_GETLK, query)
    except OSError:
        return False
    return bool(struct.unpack(_LOCK_QUERY, found)[0] != fcntl.F_UNLCK)


def confirmed(
    findings: tuple[Finding, ...], again: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Return the *findings* that a second audit reported *again*, at their place."""
    places = {(one.invariant.id, one.file, one.offset) for one in again}
    return tuple(
        one for one in findings if (one.invariant.id, one.file, one.offset) in places
    )
