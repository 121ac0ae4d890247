"""
The files of a store are named after what they begin with.

Commit log and consume queues are cut into files of one size, each named after the
offset of its first byte. An index file is named after the time of its creation. A
few files have fixed names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from spec.clause import Clause, Level
from spec.integers import INT64_MAX
from spec.layout import LayoutError

_UTIL = "4.6.0 org.apache.rocketmq.common.UtilAll"
_PATHS = "4.6.0 org.apache.rocketmq.store.config.StorePathConfigHelper"
_QUEUE = "4.6.0 org.apache.rocketmq.store.MappedFileQueue"

NAME_IS_OFFSET = Clause(
    id="STORE-NAME-001",
    level=Level.MUST,
    text="A file of the commit log or of a consume queue is named after the offset of"
    " its first byte, in 20 decimal digits.",
    source=f"{_UTIL}#offset2FileName",
)
NAME_FOLLOWS = Clause(
    id="STORE-NAME-002",
    level=Level.MUST,
    text="A file's name is the name of the one before it plus the files' size.",
    source=f"{_QUEUE}#getLastMappedFile",
)
NAME_OF_QUEUE = Clause(
    id="STORE-NAME-003",
    level=Level.MUST,
    text="The files of a consume queue lie in consumequeue/TOPIC/QUEUE.",
    source=f"{_PATHS}#getStorePathConsumeQueue",
)
NAME_OF_INDEX = Clause(
    id="STORE-NAME-004",
    level=Level.MUST,
    text="An index file is named after the local time of its creation, in 17 digits"
    " down to milliseconds.",
    source=f"{_UTIL}#timeMillisToHumanString",
)
ABORT_FILE = Clause(
    id="STORE-NAME-005",
    level=Level.MUST,
    text=(
        "A store has a file abort while a broker has it open and after a broker that "
        "did not stop cleanly."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#createTempFile",
)
LOCK_FILE = Clause(
    id="STORE-NAME-006",
    level=Level.MUST,
    text=(
        "A second broker on the same store does not start, because the first holds a "
        "lock on the file lock."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#start",
)

NAME_DIGITS = 20
INDEX_NAME_DIGITS = 17

COMMIT_LOG = "commitlog"
CONSUME_QUEUE = "consumequeue"
ROCKSDB_QUEUES = (CONSUME_QUEUE, "consumequeue_rocksdb")
"""Directories of a database with all consume queues, if a broker since 5.1.4 has one.

The second one is that of 5.5.0 with useSeparateStorePathForRocksdbCQ (Java:
StorePathConfigHelper#getStorePathRocksDBConsumeQueue).
"""
DLEDGER_PREFIX = "dledger-"
"""Begin of the name of a directory with a DLedger log (enableDLegerCommitLog)."""
ROCKSDB_CURRENT = "CURRENT"
"""File that each RocksDB database has."""
INDEX = "index"
CONFIG = "config"
CONFIG_DATABASE = f"{CONFIG}/rdb"
"""Database of topics, groups and consumed offsets with configManagerVersion=v2.

5.3.3 org.apache.rocketmq.broker.config.v2.ConfigStorage.
"""
ACCESS_DATABASES = (f"{CONFIG}/users", f"{CONFIG}/acls")
"""Databases of access control, since 5.3: no settings of topics or groups."""
CHECKPOINT = "checkpoint"
ABORT = "abort"
LOCK = "lock"


class FileKind(StrEnum):
    """Kind of a file of a store."""

    COMMIT_LOG = "commit log"
    CONSUME_QUEUE = "consume queue"
    INDEX = "index"
    CHECKPOINT = "checkpoint"
    ABORT = "abort"
    LOCK = "lock"
    CONFIG = "config"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """Meaning of a path inside a store."""

    kind: FileKind
    begin_offset: int = 0
    """Offset of the first byte of a file of the commit log or of a consume queue."""
    topic: str = ""
    queue_id: int = 0


def file_name(offset: int) -> str:
    """Return the name of the file whose first byte is at *offset*.

    Raises LayoutError for an offset that is negative or needs more than 63 bits.
    """
    if not 0 <= offset <= INT64_MAX:
        raise LayoutError(f"{offset} is not an offset")
    return f"{offset:0{NAME_DIGITS}d}"


def offset_of(name: str) -> int:
    """Return the offset, in bytes, of the first byte of the file *name*.

    Raises LayoutError for any other name.
    """
    if not re.fullmatch(rf"[0-9]{{{NAME_DIGITS}}}", name, re.ASCII):
        raise LayoutError(f"{name!r} is not {NAME_DIGITS} digits")
    if int(name) > INT64_MAX:
        raise LayoutError(f"{name!r} is more than an offset can be")
    return int(name)


def reason_without_log(names: Collection[str]) -> str | None:
    """Return why a store with the entries *names* has no commit log to read, or None.

    A DLedger log has a header before each record, and a name of the broker's choice
    behind DLEDGER_PREFIX (dledger 0.3.1.2 DLedgerConfig#getDefaultPath).
    """
    for name in sorted(names):
        if name.startswith(DLEDGER_PREFIX):
            files = f"`rmqc dump FILE` prints the messages of a file in {name}/data"
            return f"has its commit log in DLedger, which is not read; {files}"
    if COMMIT_LOG in names:
        return None
    place = "with storePathCommitLog it is elsewhere, and a link to it will do"
    return f"is not a store: it has no directory {COMMIT_LOG} ({place})"


def store_file(path: str | PurePath) -> StoreFile:
    """Return the meaning of *path*, in any store or relative to one.

    A path that no store has is a LayoutError.
    """
    parts = PurePath(path).parts
    name = parts[-1] if parts else ""
    before = parts[:-1]
    if before[-1:] == (COMMIT_LOG,):
        return StoreFile(kind=FileKind.COMMIT_LOG, begin_offset=offset_of(name))
    if before[-3:-2] == (CONSUME_QUEUE,):
        return _queue_file(before[-2], before[-1], name)
    if before[-1:] == (INDEX,) and re.fullmatch(r"[0-9]{17}", name, re.ASCII):
        return StoreFile(kind=FileKind.INDEX)
    if name in {CHECKPOINT, ABORT, LOCK}:
        return StoreFile(kind=FileKind(name))
    if before[-1:] == (CONFIG,):
        return StoreFile(kind=FileKind.CONFIG)
    raise LayoutError(f"{path} is not a path in a store")


def _queue_file(topic: str, queue_id: str, name: str) -> StoreFile:
    if not re.fullmatch(r"[0-9]{1,9}", queue_id, re.ASCII):
        raise LayoutError(f"{queue_id!r} is not a queue id")
    return StoreFile(
        kind=FileKind.CONSUME_QUEUE,
        begin_offset=offset_of(name),
        topic=topic,
        queue_id=int(queue_id),
    )
