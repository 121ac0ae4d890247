"""Invariants of databases of RocksDB, whose content is not read."""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store, read_whole
from spec.store.file_names import ACCESS_DATABASES, ROCKSDB_CURRENT
from spec.store.rocksdb_files import database_defect

_READ_MAX = 100
"""Bytes of CURRENT that are read; it has a name and a line feed."""


def check_databases(store: Store) -> Iterator[Finding]:
    """Yield the databases of queues and configuration that cannot be opened."""
    for directory in sorted({*store.databases}.difference(ACCESS_DATABASES)):
        files = {one.name: one for one in store.under(directory)}
        file = files.get(ROCKSDB_CURRENT)
        current = None
        if file is not None:
            data = read_whole(store.url, file, size_max=_READ_MAX)
            current = data.decode("ascii", "replace")
        found = database_defect(files, current)
        if found is not None:
            path = f"{directory}/{ROCKSDB_CURRENT}"
            place = (0, file.size if file else 0)
            yield file_finding("INV-ROCKSDB-001", path, place, found=found)
