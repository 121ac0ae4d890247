"""
Files of a store, and the files that are read whole.

The driver lists them once. Workers open single files by path.
"""

from __future__ import annotations

import errno
import json
import os
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path

from pyarrow import fs

from columns.scan.log_file import LogRange, store_time_at
from columns.scan.record_scan import cut_position
from spark_checks.file_systems import (
    NotAStoreError,
    first_line,
    open_filesystem,
    reading,
    shown_url,
    unreadable,
)
from spec.integers import INT32_MAX, INT64_MAX
from spec.layout import LayoutError
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.consume_queue import UNIT_SIZE
from spec.store.epoch_file import EPOCH_FILE
from spec.store.file_names import (
    ACCESS_DATABASES,
    CONSUME_QUEUE,
    ROCKSDB_QUEUES,
    reason_without_log,
)
from spec.store.index_file import HEADER_SIZE, IndexHeader, decode_header
from spec.store.queue_extension import EXTENSION
from spec.store.rocksdb_files import is_database
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL

_offset_name = re.compile(r"[0-9]{20}")
_time_name = re.compile(r"[0-9]{17}")

ESCAPE = "\\x"
"""Begin of an escape for a byte of a name that is not UTF-8."""
AUDITED = (
    *("commitlog", "consumequeue", "index", "config", "checkpoint"),
    *(EXTENSION, BATCH_QUEUE, TIMER_LOG, TIMER_WHEEL),
)
"""Directories and files at the top of a store that an audit reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store."""

    path: str
    """Path relative to the store, with slashes."""
    size: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def directory(self) -> str:
        """The path without the name."""
        return self.path.rpartition("/")[0]

    @property
    def byte_count(self) -> int:
        """Number of bytes to read, as of all parts of files."""
        return self.size

    @property
    def is_named_by_offset(self) -> bool:
        """Whether the name is a start offset, as of a mapped file."""
        is_offset = _offset_name.fullmatch(self.name) is not None
        return is_offset and int(self.name) + self.size <= INT64_MAX

    @property
    def base(self) -> int:
        """Start offset in the name; 0 without a valid one."""
        return int(self.name) if self.is_named_by_offset else 0

    @property
    def is_named_by_time(self) -> bool:
        """Whether the name is a time in milliseconds, as of an index file."""
        return _time_name.fullmatch(self.name) is not None

    @property
    def whole(self) -> LogRange:
        """All of a commit-log file, as a range."""
        size = self.size
        return LogRange(base=self.base, file_size=size, start=0, end=size)


@dataclass(frozen=True, kw_only=True)
class Store:
    """Store directory at the time of its listing."""

    url: str
    files: tuple[StoreFile, ...]
    """Files in the order of their paths."""
    directories: frozenset[str]
    begin: int = 0
    """Commit-log offset at which the audit begins."""
    parts: tuple[tuple[int, int], ...] | None = None
    """Audited ranges, as pairs of commit-log offsets; None for all."""
    cut_at: int | None = None
    """Commit-log offset at which a failover has cut the log, if bytes remain there."""
    is_slave: bool = False
    """Whether its broker is configured as a slave."""

    def under(self, directory: str) -> tuple[StoreFile, ...]:
        """Return the files directly in *directory*."""
        return tuple(file for file in self.files if file.directory == directory)

    def file(self, path: str) -> StoreFile | None:
        """Return the file at *path*; None without one."""
        return next((file for file in self.files if file.path == path), None)

    def log_file_at(self, offset: int) -> StoreFile | None:
        """Return the commit-log file with the byte at *offset*; None without one."""
        return file_at(self.commit_log, offset)

    @cached_property
    def commit_log(self) -> tuple[StoreFile, ...]:
        """Commit-log files with a valid name and at least one byte, in order."""
        return tuple(
            file
            for file in self.under("commitlog")
            if file.is_named_by_offset and file.size > 0
        )

    @property
    def commit_log_end(self) -> int:
        """Commit-log offset behind the last byte of all files; 0 without one."""
        ends = (file.base + file.size for file in self.commit_log)
        return max(ends, default=0)

    @property
    def commit_log_size(self) -> int:
        """Bytes of all commit-log files."""
        return sum(file.size for file in self.commit_log)

    def queue_files(
        self, directory: str = CONSUME_QUEUE, *, topics: str = ""
    ) -> tuple[StoreFile, ...]:
        """Return the files of queues in *directory* with a valid name and a byte.

        *topics* is the begin of their topics.
        """
        return tuple(
            file
            for file in self.files
            if file.path.startswith(f"{directory}/{topics}")
            and queue_of(file.path, directory) is not None
            and file.is_named_by_offset
            and file.size > 0
        )

    @property
    def settings(self) -> tuple[StoreFile, ...]:
        """Configuration files in JSON, and their .bak copies.

        Desktops and copy programs leave hidden files, which no broker reads.
        """
        name = re.compile(r"[^.].*\.json(\.bak)?")
        return tuple(one for one in self.under("config") if name.fullmatch(one.name))

    @cached_property
    def index(self) -> tuple[StoreFile, ...]:
        """Index files with a valid name, in order."""
        return tuple(file for file in self.under("index") if file.is_named_by_time)

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Ranges of the log to read, as pairs of commit-log offsets."""
        parts = ((self.begin, INT64_MAX),) if self.parts is None else self.parts
        return [(max(begin, self.begin), end) for begin, end in parts]

    @cached_property
    def min_offset(self) -> int:
        """First commit-log offset that exists and is audited."""
        first = min((file.base for file in self.commit_log), default=0)
        return max(first, self.begin)

    @cached_property
    def databases(self) -> tuple[str, ...]:
        """Directories of RocksDB with queues or configuration, which are not read."""
        names: dict[str, list[str]] = defaultdict(list)
        for file in self.files:
            where = file.directory
            if where in ROCKSDB_QUEUES or where.startswith("config/"):
                names[where].append(file.name)
        return tuple(where for where, some in names.items() if is_database(some))

    @property
    def has_queues_in_rocksdb(self) -> bool:
        """Whether units may be in RocksDB (Java: RocksDBConsumeQueueStore)."""
        return not {*ROCKSDB_QUEUES}.isdisjoint(self.databases)

    @property
    def may_have_config_in_rocksdb(self) -> bool:
        """Whether a directory of config may be a database with settings (since 5.0)."""
        others = set(self.directories).difference(ACCESS_DATABASES)
        return any(one.startswith("config/") for one in others)

    @property
    def was_left_open(self) -> bool:
        """Whether a broker runs on this store, or was killed: abort exists."""
        return self.file("abort") is not None

    @property
    def is_in_controller_mode(self) -> bool:
        """Whether its broker was in controller mode: a failover may cut its log."""
        return self.file(EPOCH_FILE) is not None

    @property
    def may_be_unfinished(self) -> bool:
        """Whether tables, index and checkpoint may be ahead of the log, undamaged.

        A slave gets tables from its master before it gets all messages. After a
        failover the index and the checkpoint keep what was cut off the log.
        """
        return self.was_left_open or self.is_slave or self.is_in_controller_mode


def file_at(files: Sequence[StoreFile], offset: int) -> StoreFile | None:
    """Return the file with the byte at *offset* among ordered *files*, or None."""
    index = bisect_right(files, offset, key=lambda file: file.base) - 1
    if index < 0:
        return None
    file = files[index]
    return file if offset < file.base + file.size else None


def queue_of(path: str, directory: str = CONSUME_QUEUE) -> tuple[str, int] | None:
    """Return topic and queue id of a path below *directory*; None elsewhere."""
    parts = path.split("/")
    if len(parts) != 4 or parts[0] != directory or not parts[2].isdecimal():
        return None
    queue_id = int(parts[2])
    return (parts[1], queue_id) if queue_id <= INT32_MAX else None


def queue_in(file: StoreFile, directory: str = CONSUME_QUEUE) -> tuple[str, int]:
    """Return topic and queue id of a *file* that is below *directory*."""
    queue = queue_of(file.path, directory)
    if queue is None:
        raise ValueError(f"{file.path} is not a file of a queue in {directory}")
    return queue


def mapped_file_size(files: Iterable[StoreFile]) -> int | None:
    """Return the most frequent size of one directory's *files*, by names and sizes."""
    files = [file for file in files if file.is_named_by_offset]
    steps = [b.base - a.base for a, b in pairwise(files)]
    votes = Counter([file.size for file in files if file.size] + steps)
    return _elected(votes, {file.size for file in files})


def queue_file_size(store: Store, directory: str = CONSUME_QUEUE) -> int | None:
    """Return the most frequent size of the files of queues in *directory*."""
    sizes = [file.size for file in store.queue_files(directory)]
    unit = UNIT_SIZE if directory == CONSUME_QUEUE else 1
    return _elected(Counter(sizes), {size for size in sizes if size % unit == 0})


def _elected(votes: Counter[int], known: set[int]) -> int | None:
    """Return the most frequent of *known*, the largest of several."""
    counted = {size: votes[size] for size in known if size > 0}
    return max(counted, key=lambda size: (counted[size], size), default=None)


def list_store(url: str) -> Store:
    """Return the store at *url*, or raise NotAStoreError."""
    try:
        system, root = open_filesystem(url)
        if system.get_file_info(root).type != fs.FileType.Directory:
            raise NotAStoreError(f"{shown_url(url)} is not a directory")
        listed = system.get_file_info(fs.FileSelector(root, recursive=True))
        found = {_path_of(info): info for info in listed}
    except PermissionError as error:
        # Arrow: Cannot list directory '/path'. Detail: [errno 13] Permission denied
        quoted = re.search("'(.+)'", str(error))
        path = shown_url(quoted[1] if quoted else url)
        raise unreadable(path, os.strerror(errno.EACCES)) from None
    except NotAStoreError:
        raise
    except UnicodeEncodeError:
        required = "its path is not UTF-8, as Spark requires; a link to it may have one"
        raise unreadable(shown_url(url), required) from None
    except Exception as error:  # each client of fsspec raises types of its own
        raise unreadable(shown_url(url), first_line(error, url)) from None
    start = len(root.rstrip("/")) + 1
    for path, info in sorted(found.items()):
        is_audited = path[start:].partition("/")[0] in AUDITED
        if is_audited and info.type == fs.FileType.Unknown:
            raise unreadable(path, "it is a pipe, socket or device")
    files = tuple(
        StoreFile(path=path[start:], size=info.size or 0)
        for path, info in sorted(found.items())
        if info.type == fs.FileType.File and _is_wanted(path[start:])
    )
    directories = {
        path[start:]
        for path, info in found.items()
        if info.type == fs.FileType.Directory
    }
    for one in {file.directory for file in files} - directories:  # Google lists none
        directories.update(accumulate(one.split("/"), "{}/{}".format))
    reason = reason_without_log(directories)
    if reason:
        raise NotAStoreError(f"{shown_url(url)} {reason}")
    if isinstance(system, fs.LocalFileSystem):
        _require_readable(root, files)
        url = root  # absolute: the workers of a cluster have directories of their own
    return Store(url=url, files=files, directories=frozenset(directories - {""}))


def _path_of(info: fs.FileInfo) -> str:
    """Return the path of *info*; bytes that are not UTF-8 become escapes."""
    try:
        return str(info.path)
    except UnicodeDecodeError as error:
        return str(error.object, "utf-8", "backslashreplace")


def _is_wanted(path: str) -> bool:
    """Return whether a file can be opened, or has a wrong name beside a broker's files.

    No broker's directory has an escape in its name.
    """
    directory, _, name = path.rpartition("/")
    if ESCAPE not in path:
        return True
    is_beside = directory in ("commitlog", "index") or queue_of(path) is not None
    return ESCAPE in name and is_beside


def _require_readable(root: str, files: tuple[StoreFile, ...]) -> None:
    """Raise NotAStoreError with the path of the first file that cannot be opened.

    A running broker may have renamed or deleted a file since the listing.
    """
    for file in files:
        path = Path(root, file.path)
        is_audited = file.path.partition("/")[0] in AUDITED
        if is_audited and not os.access(path, os.R_OK) and path.exists():
            raise unreadable(str(path), os.strerror(errno.EACCES))


def listing(files: Iterable[StoreFile]) -> str:
    """Return *files* as the JSON option ``files`` of sources: path and size."""
    return json.dumps([[file.path, file.size] for file in files])


def cut_by_failover(store: Store, base: int) -> Store | None:
    """Return *store* with the place at which a failover has cut its log, or None.

    The file at *base* is the last one with records. A failover deletes those behind it.
    """
    file = store.log_file_at(base)
    if file is None or not store.is_in_controller_mode:
        return None
    with reading(store.url, file.path) as read_at:
        position = cut_position(read_at, file.whole)
    return None if position is None else replace(store, cut_at=base + position)


def read_whole(url: str, file: StoreFile, *, size_max: int = 1 << 26) -> bytes:
    """Return the bytes of a small file, at most *size_max*."""
    with reading(url, file.path) as read_at:
        return read_at(0, min(file.size, size_max))


def index_header(store: Store, file: StoreFile) -> IndexHeader | None:
    """Return the header of an index file; None if it cannot be decoded."""
    try:
        return decode_header(read_whole(store.url, file, size_max=HEADER_SIZE))
    except LayoutError:
        return None


def stored_at_ms(store: Store, offset: int) -> int | None:
    """Return the store time of the record at commit-log *offset*; None without one."""
    file = store.log_file_at(offset)
    if file is None:
        return None
    with reading(store.url, file.path) as read_at:
        return store_time_at(read_at, file.whole, offset - file.base)
