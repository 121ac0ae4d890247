"""
A store's directory, opened read-only.

Only regular files are opened, and paths out of the directory are refused. A pipe,
socket or device in place of a file is an error. Links are followed, as a broker does.
Files stay mapped, and the pages that were read are released.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import stat
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from columns.file_holes import ranges_with_data
from reference.core.recovery_forecast.store_view import NotAFileError, ViewError
from reference.core.store.recovery.load import DirectoryEntry
from reference.shell.storage.disk_space import is_in_memory, written_size_of
from reference.shell.storage.mapping import read_only_map
from spec.store.file_names import LOCK

_MAPPED_MAX = 4096
"""Mapped files at a time. The messages of a log are of all queues in turn; a file that
is mapped again for each costs most of a forecast."""
_PROGRESS_EACH = 1 << 22
_RELEASE_AFTER = 1 << 26
"""Bytes read after which the mapped pages are released."""
_TEXT_MAX = 1 << 28
_FEW_BYTES = 1 << 16
"""Written bytes of a file up to which the system reads no others ahead. It would read
the holes around them, up to 8 MiB for each queue of a topic that is hardly used."""
_LOCK_QUERY = "hhqqi4x"


class ReadOnlyStore:
    """The directory of a store; nothing is written to it."""

    def __init__(
        self, directory: Path, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        self.directory = directory
        self._progress = progress
        self._maps: OrderedDict[str, tuple[mmap.mmap, memoryview]] = OrderedDict()
        self._in_memory: dict[int, bool] = {}
        self._uncounted = 0
        """Bytes read since the last call of *progress*."""
        self._since_release = 0

    def entries(self, directory: str) -> list[DirectoryEntry]:
        """Return the entries of *directory*, sorted by name."""
        try:
            with os.scandir(self._path(directory)) as found:
                return sorted(
                    DirectoryEntry(one.name, _size(f"{directory}/{one.name}", one))
                    for one in found
                )
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _unreadable(directory, error) from error

    def data(self, path: str) -> memoryview:
        """Return the bytes of the file *path*."""
        known = self._maps.get(path)
        if known is None:
            try:
                found = self._path(path).stat()
            except OSError as error:  # such as a file deleted behind the listing
                raise _unreadable(path, error) from error
            if found.st_size == 0 and stat.S_ISREG(found.st_mode):
                return memoryview(b"")  # nothing can be mapped
            known = self._maps[path] = self._mapped(path)
            while len(self._maps) > _MAPPED_MAX:
                self._maps.popitem(last=False)
        else:
            self._maps.move_to_end(path)
        return known[1]

    def written_size(self, path: str) -> int:
        """Return the position after the file's last byte that is not zero, or 0.

        Holes are not read: a broker maps whole files and writes them later.
        """
        data = self.data(path)

        def read(start: int, end: int) -> bytes:
            self.count_read(end - start)
            return bytes(data[start:end])

        try:
            number = _opened(self._path(path))
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            return written_size_of(number, read)
        finally:
            os.close(number)

    def text(self, path: str) -> str | None:
        """Return the text of the file *path*, None where it cannot be opened."""
        try:
            number = _opened(self._path(path))
        except (FileNotFoundError, NotADirectoryError, NotAFileError):
            return None
        except OSError as error:
            raise _unreadable(path, error) from error
        with os.fdopen(number, "rb") as file:
            data = file.read(_TEXT_MAX)
        return data.decode("utf-8", "replace")

    def exists(self, path: str) -> bool:
        """Return whether *path* exists."""
        try:
            return self._path(path).exists()
        except OSError as error:
            raise _unreadable(path, error) from error

    def is_locked(self) -> bool:
        """Return whether another process holds the lock of the store."""
        try:
            number = _opened(self._path(LOCK))
        except (OSError, ViewError):
            return False
        try:
            query = struct.pack(_LOCK_QUERY, fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
            found = fcntl.fcntl(number, fcntl.F_GETLK, query)
            kind = struct.unpack(_LOCK_QUERY, found)[0]
        except OSError:
            return False
        finally:
            os.close(number)
        return bool(kind != fcntl.F_UNLCK)

    def count_read(self, size: int) -> None:
        """Count *size* bytes as read; release the mapped pages from time to time."""
        self._uncounted += size
        if self._uncounted < _PROGRESS_EACH:
            return
        self._progress(self._uncounted)
        self._since_release += self._uncounted
        self._uncounted = 0
        if self._since_release >= _RELEASE_AFTER:
            self._since_release = 0
            for mapped, _ in self._maps.values():
                mapped.madvise(mmap.MADV_DONTNEED)

    def _mapped(self, path: str) -> tuple[mmap.mmap, memoryview]:
        try:
            number = _opened(self._path(path))
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            size = os.fstat(number).st_size
            mapped = read_only_map(
                number, size, is_in_memory=self._is_in_memory(path, number)
            )
            _read_ahead_of_data(mapped, number, size)
        except (OSError, ValueError) as error:
            raise ViewError(f"{path} cannot be mapped: {error}") from error
        finally:
            os.close(number)
        return mapped, memoryview(mapped).toreadonly()

    def _is_in_memory(self, path: str, number: int) -> bool:
        """Return whether an open file is in memory, found once for each file system."""
        device = os.fstat(number).st_dev
        if device not in self._in_memory:
            self._in_memory[device] = is_in_memory(self._path(path))
        return self._in_memory[device]

    def _path(self, path: str) -> Path:
        parts = path.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise ViewError(f"{path!r} is not a path inside the store")
        return self.directory.joinpath(*parts)


def _read_ahead_of_data(mapped: mmap.mmap, number: int, size: int) -> None:
    """Let the system read only the few written bytes of an open file in one batch."""
    ranges = [*ranges_with_data(number, 0, size)]
    if sum(end - begin for begin, end in ranges) > _FEW_BYTES:
        return
    mapped.madvise(mmap.MADV_RANDOM)
    for begin, end in ranges:
        begin -= begin % mmap.PAGESIZE
        mapped.madvise(mmap.MADV_WILLNEED, begin, end - begin)


def _size(path: str, entry: os.DirEntry[str]) -> int | None:
    """Return the size of a regular file, None for a directory or a broken link.

    Raises PermissionError where the directory does not permit access to its entries,
    and ViewError for a pipe, socket or device.
    """
    try:
        found = entry.stat()
    except PermissionError:
        raise
    except OSError:  # a broken link
        return None
    return found.st_size if _is_file(path, found.st_mode) else None


def _is_file(path: str, mode: int) -> bool:
    """Return whether *mode* is that of a file, not that of a directory."""
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ViewError(f"{path} cannot be read: it is a pipe, socket or device")
    return stat.S_ISREG(mode)


def _opened(path: Path) -> int:
    """Open the regular file *path* for reading, without blocking on a pipe."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if _is_file(str(path), os.fstat(number).st_mode):
            return number
        raise NotAFileError(f"{path.name} is not a regular file")
    except ViewError:
        os.close(number)
        raise


def _unreadable(path: str, error: OSError) -> ViewError:
    reason = os.strerror(error.errno or errno.EIO)
    return ViewError(f"{path} cannot be read: {reason}")
