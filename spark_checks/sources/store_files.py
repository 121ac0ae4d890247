"""
The files of a store, wherever they are: a local path or any URL that Arrow opens.

Listing happens once, in the driver; workers open single files by their place.
Everything is opened for reading only.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pyarrow as pa
from pyarrow import fs

from spark_checks.sources.record_scan import ReadAt
from spec.integers import INT32_MAX, INT64_MAX
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.queue_extension import EXTENSION
from spec.wire.multi_dispatch import LIGHT_PREFIX

_offset_name = re.compile(r"[0-9]{20}")
_time_name = re.compile(r"[0-9]{17}")


class NotAStoreError(Exception):
    """There is no store at the given place, or it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store."""

    path: str
    """Relative to the store, with slashes."""
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
        """The offset that the name states; None if it states none that there can be."""
        if not _offset_name.fullmatch(self.name):
            return None
        base = int(self.name)
        return base if base + self.size <= INT64_MAX else None

    @property
    def is_named_by_time(self) -> bool:
        """Whether the name is a moment to the millisecond, as an index file's is."""
        return _time_name.fullmatch(self.name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A store directory as it was when it was listed."""

    url: str
    files: tuple[StoreFile, ...]
    """In the order of their paths."""
    directories: frozenset[str]
    begin: int = 0
    """Commit-log offset before which nothing is looked at."""
    parts: tuple[tuple[int, int], ...] | None = None
    """Commit-log offsets at which the ranges begin, and behind them, that are looked
    at; None for all."""

    def under(self, directory: str) -> tuple[StoreFile, ...]:
        """Return the files directly in *directory*."""
        return tuple(file for file in self.files if file.directory == directory)

    @property
    def commit_log(self) -> tuple[StoreFile, ...]:
        """The commit-log files that are named and filled as such, in order."""
        return tuple(
            file
            for file in self.under("commitlog")
            if file.base is not None and file.size > 0
        )

    @property
    def commit_log_size(self) -> int:
        """Bytes of those."""
        return sum(file.size for file in self.commit_log)

    @property
    def consume_queues(self) -> tuple[StoreFile, ...]:
        """The consume-queue files that are named and filled as such, in order."""
        return self._of_queues("consumequeue")

    @property
    def extensions(self) -> tuple[StoreFile, ...]:
        """The same of the consume queues' extensions."""
        return self._of_queues(EXTENSION)

    @property
    def batch_queues(self) -> tuple[StoreFile, ...]:
        """The same of batch consume queues."""
        return self._of_queues(BATCH_QUEUE)

    @property
    def light_queues(self) -> tuple[StoreFile, ...]:
        """Those of the consume-queue files that are of light queues."""
        begin = f"consumequeue/{LIGHT_PREFIX}"
        return tuple(f for f in self.consume_queues if f.path.startswith(begin))

    @property
    def settings(self) -> tuple[StoreFile, ...]:
        """The files of config that hold JSON, and their copies."""
        ends = (".json", ".json.bak")
        return tuple(file for file in self.under("config") if file.name.endswith(ends))

    @property
    def index(self) -> tuple[StoreFile, ...]:
        """The index files that are named and filled as such, in order."""
        return tuple(
            file
            for file in self.under("index")
            if file.is_named_by_time and file.size > 0
        )

    @property
    def min_offset(self) -> int:
        """The first commit-log offset that is still there, and is looked at."""
        first = min((file.base or 0 for file in self.commit_log), default=0)
        return max(first, self.begin)

    @property
    def was_left_open(self) -> bool:
        """Whether a broker runs on this store, or ended without closing it."""
        return any(file.path == "abort" for file in self.files)

    def _of_queues(self, directory: str) -> tuple[StoreFile, ...]:
        return tuple(
            file
            for file in self.files
            if queue_of(file.path, directory) is not None
            and file.base is not None
            and file.size > 0
        )


def queue_of(path: str, directory: str = "consumequeue") -> tuple[str, int] | None:
    """Return topic and queue id of a path below *directory*; None elsewhere."""
    parts = path.split("/")
    if len(parts) != 4 or parts[0] != directory or not parts[2].isdecimal():
        return None
    queue_id = int(parts[2])
    return (parts[1], queue_id) if queue_id <= INT32_MAX else None


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
        raise NotAStoreError(f"{name} is no name in UTF-8") from None
    except (OSError, pa.ArrowException) as error:
        reason = f"{shown_url(url)} cannot be read: {_first_line(error)}"
        raise NotAStoreError(reason) from None
    start = len(root.rstrip("/")) + 1
    files = tuple(
        StoreFile(path=path[start:], size=info.size or 0)
        for path, info in sorted(found.items())
        if info.type == fs.FileType.File
    )
    directories = frozenset(
        path[start:]
        for path, info in found.items()
        if info.type == fs.FileType.Directory
    )
    if "commitlog" not in directories and "consumequeue" not in directories:
        raise NotAStoreError(
            f"{shown_url(url)} is not a store:"
            " it has neither commitlog nor consumequeue"
        )
    return Store(url=url, files=files, directories=directories)


def open_filesystem(url: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of *url* and the path in it."""
    if "://" in url:
        return _opened(url)
    return fs.LocalFileSystem(), str(Path(url).absolute())


def is_same_place(url: str, other: str) -> bool:
    """Return whether both URLs lead to one directory, by links or dots as it may be."""
    (system, path), (other_system, other_path) = map(open_filesystem, (url, other))
    if isinstance(system, fs.LocalFileSystem):
        path, other_path = os.path.realpath(path), os.path.realpath(other_path)
    return system.equals(other_system) and path.rstrip("/") == other_path.rstrip("/")


@lru_cache(maxsize=16)
def _opened(url: str) -> tuple[fs.FileSystem, str]:
    """Return what *url* opens, once: far ones take a connection to open."""
    system, path = fs.FileSystem.from_uri(url)
    return system, path


def shown_url(url: str) -> str:
    """Return *url* as people may see it: without the keys that open the store."""
    parts = urlsplit(url) if "://" in url else None
    if parts is None or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@contextmanager
def reading(url: str, path: str) -> Iterator[ReadAt]:
    """Open the file at *path* of the store *url* and lend a reader of its bytes."""
    system, root = open_filesystem(url)
    with system.open_input_file(f"{root.rstrip('/')}/{path}") as file:

        def read_at(position: int, size: int) -> bytes:
            data: bytes = file.read_at(size, position)
            return data

        yield read_at


def held_ranges(url: str, path: str, size: int) -> list[range]:
    """Return the bytes that the disk holds of a file of *size* bytes.

    A broker maps a file whole and writes it bit by bit: what it has not come to takes
    no room on most disks and reads as zeros. Where nobody can say so it is the whole.
    """
    system, root = open_filesystem(url)
    if not isinstance(system, fs.LocalFileSystem) or not hasattr(os, "SEEK_DATA"):
        return [range(size)]
    try:
        with Path(root, path).open("rb", buffering=0) as file:
            return _held_of(file.fileno(), size)
    except OSError:  # the disk cannot tell; of a file that is gone, who reads it tells
        return [range(size)]


def _held_of(opened: int, size: int) -> list[range]:
    """Return what the disk holds of an *opened* file; OSError where it cannot tell."""
    found: list[range] = []
    end = 0
    while end < size:
        try:
            begin = os.lseek(opened, end, os.SEEK_DATA)
            end = os.lseek(opened, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing is held from here on
                return found
            raise
        found.append(range(begin, min(end, size)))
    return found


def read_whole(url: str, file: StoreFile, *, size_max: int = 1 << 26) -> bytes:
    """Return the bytes of a small file, and never more than *size_max*."""
    with reading(url, file.path) as read_at:
        return read_at(0, min(file.size, size_max))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
