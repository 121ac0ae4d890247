"""
Files of a RocksDB database in a store, as far as they show that it cannot be opened.

Queues, topics, groups and consumed offsets may be in such databases since 5.1.4. Their
content is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from spec.clause import Clause, Level
from spec.store.file_names import ROCKSDB_CURRENT

DATABASE_OPENS = Clause(
    id="STORE-ROCKSDB-001",
    level=Level.MUST,
    text=(
        "A broker does not start if a database of its queues or configuration in "
        "RocksDB has lost the file CURRENT, or the manifest that CURRENT names."
    ),
    source="5.3.3 org.apache.rocketmq.common.config.AbstractRocksDBStorage#open",
    since="5.1.4",
)

_CURRENT_MAX = 64
_manifest = re.compile(r"MANIFEST-\d+", re.ASCII)
_file_of_database = re.compile(
    rf"{ROCKSDB_CURRENT}|IDENTITY|(?:MANIFEST|OPTIONS)-\d+|\d+\.sst", re.ASCII
)


def is_database(names: Collection[str]) -> bool:
    """Whether a directory with files of these *names* is a database of RocksDB."""
    return any(map(_file_of_database.fullmatch, names))


def database_defect(names: Collection[str], current: str | None) -> str | None:
    """Return why a database with files of these *names* cannot be opened, or None.

    *current* is the text of its file CURRENT, None without one.
    """
    if current is None:
        return "no file"
    named = current[:_CURRENT_MAX].rstrip("\n")
    if not _manifest.fullmatch(named):
        return "no name of a manifest"
    return None if named in names else f"the name {named}, which is missing"
