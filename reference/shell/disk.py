"""
A store's files on a real disk: mapped, sparse, and all below one directory.

Files have their full size from the start, as 4.6.0 makes them, but take space only
where something was written.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import threading
import time
import weakref
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from reference.core.store.files import WORD_SIZE, FilesError
from reference.shell.disk_space import (
    STRETCH_BITS,
    DiskSpace,
    refused,
    stretches_with_data,
)
from reference.shell.resting import Resting

try:
    import fcntl
except ImportError:  # not a POSIX system: stores there are not kept apart
    fcntl = None  # type: ignore[assignment]

_CLEARED_AT_ONCE = 1 << 20
_numbers = count()


class DiskFile:
    """A mapped file on disk."""

    def __init__(self, path: Path, size: int, resting: Resting) -> None:
        self.path = path
        self.size = size
        self._file_number = _open_sized(path, size)
        # Also when the last of a store that was never closed is forgotten.
        self._space = DiskSpace(path, self._file_number, size)
        self._close_file = weakref.finalize(
            self, _close_behind, self._space, self._file_number
        )
        self._map = mmap.mmap(self._file_number, size)
        self._resting = resting
        resting.add(self._map)
        self._writable = memoryview(self._map)
        self.view = self._writable.toreadonly()
        self._written_at_ns = 0
        self._is_open = True
        self._in_use = threading.Lock()
        """Held while the file is flushed, which another thread does, or closed."""

    @property
    def modified_at_ms(self) -> int:
        """When the file was last written, as the file system or this process says."""
        on_disk = os.fstat(self._file_number).st_mtime_ns
        return max(on_disk, self._written_at_ns) // 1_000_000

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write *data* at *at*, or raise FilesError before anything is written."""
        end = at + len(data)
        if not 0 <= at <= end <= self.size:
            raise FilesError(f"bytes {at} to {end} are not in {self.path.name}")
        first, last = at >> STRETCH_BITS, end >> STRETCH_BITS
        if first != last or not self._space.has[first]:
            self._space.take(first, last)
        self._map[at:end] = data  # twice as fast as through a view
        self._written_at_ns = time.time_ns()

    def write_words(self, words: bytes, places: Sequence[int]) -> None:
        """Write four bytes of *words* at each place, or raise FilesError before."""
        if not 0 <= min(places) <= max(places) <= self.size - WORD_SIZE:
            raise FilesError(f"not all places are in {self.path.name}")
        has = self._space.has
        new = {at >> STRETCH_BITS for at in places if not has[at >> STRETCH_BITS]}
        for stretch in sorted(new):
            self._space.take(stretch, stretch)
        mapped = self._map
        for number, at in enumerate(places):
            begin = WORD_SIZE * number
            mapped[at : at + WORD_SIZE] = words[begin : begin + WORD_SIZE]
        self._written_at_ns = time.time_ns()

    def reserve(self, at: int, size: int) -> None:
        """Have space for *size* bytes at *at*, or raise FilesError."""
        end = at + size
        if not 0 <= at <= end <= self.size:
            raise FilesError(f"bytes {at} to {end} are not in {self.path.name}")
        self._space.take(at >> STRETCH_BITS, end >> STRETCH_BITS)

    def clear(self, at: int) -> None:
        """Make all bytes from *at* on zero, on disk too, where they are not.

        Cutting the file and growing it again would be quicker, but a power cut between
        the two leaves a file of a size that no broker starts on.
        """
        is_changed = False
        for begin, end in stretches_with_data(self._file_number, at, self.size):
            for start in range(begin, end, _CLEARED_AT_ONCE):
                stop = min(start + _CLEARED_AT_ONCE, end)
                zeros = bytes(stop - start)
                if self._map[start:stop] != zeros:  # a view is compared byte by byte
                    self._map[start:stop] = zeros
                    is_changed = True
        if is_changed:
            self.flush()

    def flush(self) -> None:
        """Return when everything written is on disk, or at once if it is closed."""
        with self._in_use:
            if self._is_open:
                _sync(self._file_number, self.path)
                self._stamp()
                self._resting.rest(self._map)

    def close(self) -> None:
        """Give the mapping back, now or when the last view of it is gone."""
        with self._in_use:
            self._is_open = False
            self._stamp()
            with contextlib.suppress(BufferError):  # somebody still reads or sends it
                self._writable.release()
                self.view.release()
                self._map.close()
            self._close_file()

    def _stamp(self) -> None:
        """Give the file the time of its last write, which mapped writes do not."""
        if self._written_at_ns:
            stamp = self._written_at_ns
            os.utime(self._file_number, ns=(stamp, stamp))


class DiskFiles:
    """The directory of a store. Nothing outside it is ever opened."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self._resting = Resting()
        self._lock_number: int | None = None

    def lock(self) -> None:
        """Keep every other store out, a Java broker too."""
        path = self._path("lock")
        number = _open_for_writing(path)
        if fcntl is not None:
            try:
                # [STORE-NAME-006]
                fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
            except OSError as error:
                os.close(number)
                raise refused(
                    "another store is running in", path.parent, error
                ) from error
        os.write(number, b"lock")
        self._lock_number = number

    def unlock(self) -> None:
        """Let others in again."""
        if self._lock_number is not None:
            os.close(self._lock_number)
            self._lock_number = None

    def names(self, directory: str) -> list[str]:
        """Return the sorted names in *directory*; none if there is no such."""
        try:
            return sorted(os.listdir(self._path(directory)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def size(self, path: str) -> int | None:
        """Return the size of the file *path*, None where there is none."""
        try:
            return self._path(path).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self, path: str, size: int) -> DiskFile:
        """Return the file *path* mapped; it is made, full of zeros, if need be."""
        full = self._path(path)
        if not full.exists():
            _make_sized(full, size, self.directory / f"new{next(_numbers)}.tmp")
        return DiskFile(full, size, self._resting)

    def delete(self, path: str) -> None:
        """Delete the file *path*, or the empty directory, if there is one."""
        full = self._path(path)
        try:
            if full.is_dir():
                full.rmdir()
            else:
                full.unlink(missing_ok=True)
        except OSError as error:
            raise refused("cannot delete", full, error) from error

    def read_text(self, path: str) -> str | None:
        """Return the text of *path*, None where there is none."""
        try:
            return self._path(path).read_text("utf-8", "surrogateescape")
        except (FileNotFoundError, IsADirectoryError):
            return None

    def replace_text(self, path: str, text: str) -> None:
        """Make *text* the content of *path*: a crash leaves the old or the new."""
        full = self._path(path)
        waiting = full.with_name(full.name + ".tmp")
        number = _open_for_writing(waiting, os.O_TRUNC)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
            waiting.replace(full)
            _sync_directory(full.parent)
        except OSError as error:
            raise refused("cannot write", full, error) from error

    def disk_space(self) -> tuple[int, int]:
        """Return how many bytes the disk has, and has free; (0, 0) if it is gone."""
        try:
            usage = shutil.disk_usage(self.directory)
        except OSError:
            return 0, 0
        return usage.total, usage.total - usage.used

    def _path(self, path: str) -> Path:
        parts = path.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise FilesError(f"{path!r} is not a path inside the store")
        return self.directory.joinpath(*parts)


def _close_behind(space: DiskSpace, file_number: int) -> None:
    """Close a file when nobody else writes to it any more."""
    space.settle()
    os.close(file_number)


def _open_sized(path: Path, size: int) -> int:
    """Return *path* open for mapping, at least *size* bytes long."""
    number = _open_for_writing(path)
    try:
        if os.fstat(number).st_size < size:
            os.ftruncate(number, size)  # [REC-CHECKPOINT-003]
    except OSError as error:
        os.close(number)
        raise refused(f"cannot make {size} bytes of", path, error) from error
    return number


def _make_sized(path: Path, size: int, waiting: Path) -> None:
    """Make the file *path* of so many zeros, which is *waiting* until it has them.

    A power cut would else leave an empty file, on which no broker of 4.6.0 starts.
    """
    number = _open_for_writing(waiting, os.O_TRUNC)
    try:
        os.ftruncate(number, size)
        path.parent.mkdir(parents=True, exist_ok=True)
        waiting.replace(path)
    except OSError as error:
        raise refused(f"cannot make {size} bytes of", path, error) from error
    finally:
        os.close(number)


def _open_for_writing(path: Path, flags: int = 0) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o644)
    except OSError as error:
        raise refused("cannot open", path, error) from error


def _sync(file_number: int, path: Path) -> None:
    try:
        (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(file_number)
    except OSError as error:
        raise refused("cannot flush", path, error) from error


def _sync_directory(directory: Path) -> None:
    """Return when the names in *directory* are on disk, where a system can say so."""
    if os.name != "posix":
        return
    number = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)
