"""
Files of a store at a local path or any URL that Arrow or fsspec opens.

The driver lists them once. Workers open single files by path, for reading only.
"""

from __future__ import annotations

import errno
import json
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from urllib.parse import urlsplit

from pyarrow import fs

from spark_checks.columns.record_scan import FileRange, ReadAt, store_time_at
from spec.integers import INT32_MAX, INT64_MAX
from spec.layout import LayoutError
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import (
    CONSUME_QUEUE,
    ROCKSDB_CURRENT,
    ROCKSDB_QUEUES,
    reason_without_log,
)
from spec.store.index_file import HEADER_SIZE, IndexHeader, decode_header
from spec.store.queue_extension import EXTENSION
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL

_offset_name = re.compile(r"[0-9]{20}")
_time_name = re.compile(r"[0-9]{17}")


_AZURE_SCHEMES = ("abfs", "abfss")
_GOOGLE_SCHEMES = ("gs", "gcs")
_ARROW_SCHEMES = (
    *("file", "s3", "hdfs", "viewfs"),
    *(*_AZURE_SCHEMES, *_GOOGLE_SCHEMES),
)
_GOOGLE_RETRY = "retry_limit_seconds"
_SHOWN_PARAMETERS = (
    *("region", "scheme", "endpoint_override", "enable_tls", _GOOGLE_RETRY),
    *("blob_storage_authority", "dfs_storage_authority"),
)
"""Parameters of a URL that are shown. Others may be parts of a SAS token or secrets."""


class NotAStoreError(Exception):
    """The place holds no store, or is not readable."""


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
    def base(self) -> int | None:
        """Start offset in the name; None without a valid one."""
        if not _offset_name.fullmatch(self.name):
            return None
        base = int(self.name)
        return base if base + self.size <= INT64_MAX else None

    @property
    def is_named_by_time(self) -> bool:
        """Whether the name is a time in milliseconds, as of an index file."""
        return _time_name.fullmatch(self.name) is not None

    @property
    def whole(self) -> FileRange:
        """All of a commit-log file, as a range."""
        size = self.size
        return FileRange(base=self.base or 0, file_size=size, start=0, end=size)


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def under(self, directory: str) -> tuple[StoreFile, ...]:
        """Return the files directly in *directory*."""
        return tuple(file for file in self.files if file.directory == directory)

    def file(self, path: str) -> StoreFile | None:
        """Return the file at *path*; None without one."""
        return next((file for file in self.files if file.path == path), None)

    def log_file_at(self, offset: int) -> StoreFile | None:
        """Return the commit-log file with the byte at *offset*; None without one."""
        return file_at(self.commit_log, offset)

    @property
    def commit_log(self) -> tuple[StoreFile, ...]:
        """Commit-log files with a valid name and at least one byte, in order."""
        return tuple(
            file
            for file in self.under("commitlog")
            if file.base is not None and file.size > 0
        )

    @property
    def commit_log_size(self) -> int:
        """Bytes of all commit-log files."""
        return sum(file.size for file in self.commit_log)

    def queue_files(self, directory: str = CONSUME_QUEUE) -> tuple[StoreFile, ...]:
        """Return the files of queues in *directory* with a valid name and a byte."""
        return tuple(
            file
            for file in self.files
            if queue_of(file.path, directory) is not None
            and file.base is not None
            and file.size > 0
        )

    @property
    def settings(self) -> tuple[StoreFile, ...]:
        """Configuration files in JSON, and their .bak copies."""
        ends = (".json", ".json.bak")
        return tuple(file for file in self.under("config") if file.name.endswith(ends))

    @property
    def index(self) -> tuple[StoreFile, ...]:
        """Index files with a valid name and at least one byte, in order."""
        return tuple(
            file
            for file in self.under("index")
            if file.is_named_by_time and file.size > 0
        )

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Ranges of the log to read, as pairs of commit-log offsets."""
        parts = ((self.begin, INT64_MAX),) if self.parts is None else self.parts
        return [(max(begin, self.begin), end) for begin, end in parts]

    @property
    def min_offset(self) -> int:
        """First commit-log offset that exists and is audited."""
        first = min((file.base or 0 for file in self.commit_log), default=0)
        return max(first, self.begin)

    @property
    def databases(self) -> tuple[str, ...]:
        """Directories of RocksDB with queues or configuration, which are not read."""
        found = [file.directory for file in self.files if file.name == ROCKSDB_CURRENT]
        return tuple(
            one for one in found if one in ROCKSDB_QUEUES or one.startswith("config/")
        )

    @property
    def has_queues_in_rocksdb(self) -> bool:
        """Whether units may be in RocksDB (Java: RocksDBConsumeQueueStore)."""
        return any(one in self.databases for one in ROCKSDB_QUEUES)

    @property
    def was_left_open(self) -> bool:
        """Whether a broker runs on this store, or was killed: abort exists."""
        return any(file.path == "abort" for file in self.files)


def file_at(files: Sequence[StoreFile], offset: int) -> StoreFile | None:
    """Return the file with the byte at *offset* among ordered *files*, or None."""
    index = bisect_right(files, offset, key=lambda file: file.base or 0) - 1
    if index < 0:
        return None
    file = files[index]
    return file if offset < (file.base or 0) + file.size else None


def queue_of(path: str, directory: str = CONSUME_QUEUE) -> tuple[str, int] | None:
    """Return topic and queue id of a path below *directory*; None elsewhere."""
    parts = path.split("/")
    if len(parts) != 4 or parts[0] != directory or not parts[2].isdecimal():
        return None
    queue_id = int(parts[2])
    return (parts[1], queue_id) if queue_id <= INT32_MAX else None


def commit_log_file_size(store: Store) -> int | None:
    """Return the most frequent size of commit-log files, by names and sizes."""
    files = [file for file in store.under("commitlog") if file.base is not None]
    steps = [(b.base or 0) - (a.base or 0) for a, b in pairwise(files)]
    votes = Counter([file.size for file in files if file.size] + steps)
    return _elected(votes, {file.size for file in files})


def queue_file_size(store: Store) -> int | None:
    """Return the most frequent size of consume-queue files."""
    sizes = [file.size for file in store.queue_files()]
    return _elected(Counter(sizes), {size for size in sizes if size % UNIT_SIZE == 0})


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
        found = {info.path: info for info in listed}
    except UnicodeDecodeError as error:
        name = error.object.decode(errors="backslashreplace")
        raise NotAStoreError(f"{name} is not a name in UTF-8") from None
    except PermissionError as error:
        # Arrow: Cannot list directory '/path'. Detail: [errno 13] Permission denied
        quoted = re.search("'(.+)'", str(error))
        path = shown_url(quoted[1] if quoted else url)
        raise _unreadable(path, os.strerror(errno.EACCES)) from None
    except NotAStoreError:
        raise
    except Exception as error:  # each client of fsspec raises types of its own
        raise _unreadable(shown_url(url), _first_line(error, url)) from None
    start = len(root.rstrip("/")) + 1
    files = tuple(
        StoreFile(path=path[start:], size=info.size or 0)
        for path, info in sorted(found.items())
        if info.type == fs.FileType.File
    )
    directories = {
        path[start:]
        for path, info in found.items()
        if info.type == fs.FileType.Directory
    }
    for file in files:  # Google Cloud Storage lists no directories
        directories.update(accumulate(file.directory.split("/"), "{}/{}".format))
    unreadable = reason_without_log(directories)
    if unreadable:
        raise NotAStoreError(f"{shown_url(url)} {unreadable}")
    if isinstance(system, fs.LocalFileSystem):
        _require_readable(root, files)
        url = root  # absolute: the workers of a cluster have directories of their own
    return Store(url=url, files=files, directories=frozenset(directories - {""}))


def _require_readable(root: str, files: tuple[StoreFile, ...]) -> None:
    """Raise NotAStoreError with the path of the first file that cannot be opened."""
    for file in files:
        path = Path(root, file.path)
        is_audited = file.path.partition("/")[0] in AUDITED
        if is_audited and not os.access(path, os.R_OK):
            raise _unreadable(str(path), os.strerror(errno.EACCES))


def _unreadable(path: str, reason: str) -> NotAStoreError:
    return NotAStoreError(f"{path} cannot be read: {reason}")


def open_filesystem(url: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of *url* and the path in it."""
    if "://" in url:
        return _opened(url)
    return fs.LocalFileSystem(), str(Path(url).absolute())


def listing(files: Iterable[StoreFile]) -> str:
    """Return *files* as the JSON option ``files``: path, start offset and size."""
    return json.dumps([[file.path, file.base, file.size] for file in files])


def sizes_of(files: Iterable[StoreFile]) -> str:
    """Return *files* as the JSON option ``files`` of sources without start offsets."""
    return json.dumps([[file.path, file.size] for file in files])


def is_same_place(url: str, other: str) -> bool:
    """Return whether both URLs lead to one directory, links and dots resolved."""
    (system, path), (other_system, other_path) = map(open_filesystem, (url, other))
    if isinstance(system, fs.LocalFileSystem):
        path, other_path = os.path.realpath(path), os.path.realpath(other_path)
    return system.equals(other_system) and path.rstrip("/") == other_path.rstrip("/")


@lru_cache(maxsize=16)
def _opened(url: str) -> tuple[fs.FileSystem, str]:
    """Return the file system and path of *url*, cached because remote ones connect.

    Arrow opens its own kinds of URLs, fsspec the others. Raises OSError.
    """
    scheme = url.partition("://")[0]
    if scheme in _ARROW_SCHEMES:
        if scheme in _AZURE_SCHEMES and urlsplit(url).password is not None:
            raise OSError("Arrow takes a SAS token from a URL, not an account key")
        limit = ""
        if scheme in _GOOGLE_SCHEMES and _GOOGLE_RETRY not in url:
            # By default Arrow tries to reach a server for 15 minutes.
            limit = f"{'&' if '?' in url else '?'}{_GOOGLE_RETRY}=20"
        try:
            system, path = fs.FileSystem.from_uri(url + limit)
        except OSError as error:
            if "libhdfs" not in str(error) and "libjvm" not in str(error):
                raise
            hint = "webhdfs://HOST:PORT/PATH needs no library of Hadoop"
            raise OSError(f"{_first_line(error, url)}; {hint}") from None
        return system, path
    try:
        from fsspec.core import url_to_fs

        opened, path = url_to_fs(url)
    except (ImportError, ValueError) as error:  # a missing package, an unknown scheme
        raise OSError(_first_line(error, url)) from None
    return fs.PyFileSystem(fs.FSSpecHandler(opened)), path


def shown_url(url: str) -> str:
    """Return *url* without the credentials in it.

    A password ends at the last ``@``, because keys with unescaped slashes occur.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    user, at, place = rest.rpartition("@")
    if ":" not in user and re.search("[/?#]", user):  # an @ of the path
        place = rest
    elif at and scheme in _AZURE_SCHEMES:  # the container, or the account
        place = f"{user.partition(':')[0]}@{place}"
    place, _, query = place.partition("?")
    return f"{scheme}://{place}{_shown_query(query)}"


def _shown_query(query: str) -> str:
    """Return the parameters of *query* that are shown, behind a question mark."""
    parameters = query.split("&")
    shown = [one for one in parameters if one.partition("=")[0] in _SHOWN_PARAMETERS]
    return "?" + "&".join(shown) if shown else ""


@contextmanager
def reading(url: str, path: str) -> Iterator[ReadAt]:
    """Open the file at *path* of the store *url* and yield a function that reads it.

    Both raise NotAStoreError with the file's path.
    """
    system, root = open_filesystem(url)
    whole = f"{root.rstrip('/')}/{path}"

    def read_at(position: int, size: int) -> bytes:
        try:
            data: bytes = file.read_at(size, position)
        except Exception as error:
            raise _unreadable(shown_url(whole), _reason(error, url)) from None
        return data

    try:
        file = system.open_input_file(whole)
    except Exception as error:
        raise _unreadable(shown_url(whole), _reason(error, url)) from None
    with file:
        yield read_at


def allocated_ranges(url: str, path: str, size: int) -> list[range]:
    """Return the ranges that the disk has allocated of a file of *size* bytes.

    A broker maps whole files and writes them later. Unwritten parts are holes on most
    disks and read as zeros. The whole file is returned where holes are not reported.
    """
    system, root = open_filesystem(url)
    if not isinstance(system, fs.LocalFileSystem) or not hasattr(os, "SEEK_DATA"):
        return [range(size)]
    found: list[range] = []
    end = 0
    try:
        with Path(root, path).open("rb", buffering=0) as file:
            while end < size:
                begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
                end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
                found.append(range(begin, min(end, size)))
    except OSError as error:
        if error.errno != errno.ENXIO:  # unsupported, or deleted: then reading fails
            return [range(size)]
    return found  # with ENXIO there is no allocated range from there on


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
        return store_time_at(read_at, file.whole, offset - (file.base or 0))


def _reason(error: Exception, url: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number else _first_line(error, url)


def _first_line(error: BaseException, url: str) -> str:
    """Return the first line of *error* without credentials of *url* in it."""
    text = str(error).replace(url, shown_url(url)) or type(error).__name__
    line = text.splitlines()[0].partition(" error_info=")[0]  # Google repeats itself
    # Azure's client has its own URLs in errors, with the whole query.
    queries = re.compile(r"\?([^\s'\"=]+=[^\s'\"]*)")
    return queries.sub(lambda found: _shown_query(found[1]), line)
