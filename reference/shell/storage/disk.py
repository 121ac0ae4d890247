"""
Files of a store on disk: mapped and sparse, below one directory (Java: MappedFile).

A file has its full size from the start, as in 4.6.0, and takes disk space only where
it was written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import threading
import time
import weakref
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from columns.file_holes import ranges_with_data
from reference.core.store.mapped.files import WORD_SIZE, FilesError
from reference.shell.storage.disk_space import (
    BLOCK_BITS,
    DiskSpace,
    HoleSpace,
    files_error,
)
from reference.shell.storage.file_calls import (
    make_sized,
    open_for_writing,
    open_sized,
    read_text,
    replace_text,
    sync,
)
from reference.shell.storage.mapping import writable_map
from reference.shell.storage.page_release import PageRelease

_CLEARED_PER_WRITE = 1 << 20
_LOCK_CONTENT = b"lock"
_numbers = count()


class DiskFile:
    """A mapped file on disk."""

    def __init__(
        self, path: Path, size: int, page_release: PageRelease, holes: HoleSpace
    ) -> None:
        self.path = path
        self.holes_take_space = holes.is_needed
        """Whether a hole may be read only after `reserve`."""
        self.size = size
        self.descriptor = open_sized(path, size)
        # Also runs when a store is garbage-collected without being closed.
        self._space = DiskSpace(path, self.descriptor, size)
        self._close_file = weakref.finalize(
            self, _close_behind, self._space, self.descriptor
        )
        try:
            self._map = writable_map(self.descriptor, size)
        except OSError as error:
            self._close_file()
            raise FilesError(f"cannot map {path}: {error}") from error
        self._page_release = page_release
        page_release.add(self._map)
        self._writable = memoryview(self._map)
        self.view = self._writable.toreadonly()
        self._written_at_ns = 0
        self._is_open = True
        self._in_use = threading.Lock()
        """Held while another thread flushes the file, and while it is closed."""

    @property
    def modified_at_ms(self) -> int:
        """The later time of the file system's stamp and of the last write here."""
        on_disk = os.fstat(self.descriptor).st_mtime_ns
        return max(on_disk, self._written_at_ns) // 1_000_000

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write *data* at *at*; FilesError leaves the file unchanged."""
        end = at + len(data)
        if not 0 <= at <= end <= self.size:
            raise FilesError(f"bytes {at} to {end} are not in {self.path.name}")
        first, last = at >> BLOCK_BITS, end >> BLOCK_BITS
        if first != last or not self._space.has[first]:
            self._space.allocate(first, last)
        self._map[at:end] = data  # twice as fast as through a view
        self._written_at_ns = time.time_ns()

    def write_words(self, words: bytes, places: Sequence[int]) -> None:
        """Write four bytes at each place; FilesError leaves the file unchanged."""
        if not 0 <= min(places) <= max(places) <= self.size - WORD_SIZE:
            raise FilesError(f"not all places are in {self.path.name}")
        has = self._space.has
        new = {at >> BLOCK_BITS for at in places if not has[at >> BLOCK_BITS]}
        for block in sorted(new):
            self._space.allocate(block, block)
        mapped = self._map
        for number, at in enumerate(places):
            begin = WORD_SIZE * number
            mapped[at : at + WORD_SIZE] = words[begin : begin + WORD_SIZE]
        self._written_at_ns = time.time_ns()

    def reserve(self, at: int, size: int) -> None:
        """Allocate disk space for *size* bytes at *at*, or raise FilesError."""
        end = at + size
        if not 0 <= at <= end <= self.size:
            raise FilesError(f"bytes {at} to {end} are not in {self.path.name}")
        self._space.allocate(at >> BLOCK_BITS, end >> BLOCK_BITS)

    def clear(self, at: int) -> None:
        """Make all bytes from *at* on zero, on disk too, where they are not.

        Truncating and extending the file would be faster. A power cut between the two
        would leave a file of a size on which no broker starts.
        """
        is_changed = False
        for begin, end in ranges_with_data(self.descriptor, at, self.size):
            for start in range(begin, end, _CLEARED_PER_WRITE):
                stop = min(start + _CLEARED_PER_WRITE, end)
                zeros = bytes(stop - start)
                if self._map[start:stop] != zeros:  # a view is compared byte by byte
                    self._map[start:stop] = zeros
                    is_changed = True
        if is_changed:
            self.flush()

    def flush(self) -> None:
        """Flush all writes to disk; no effect on a closed file."""
        with self._in_use:
            if self._is_open:
                sync(self.descriptor, self.path)
                self._stamp()
                self._page_release.release(self._map)

    def close(self) -> None:
        """Unmap the file now, or when its last view is released."""
        with self._in_use:
            self._is_open = False
            self._stamp()
            with contextlib.suppress(BufferError):  # a view is being read or sent
                self._writable.release()
                self.view.release()
                self._map.close()
            self._close_file()

    def _stamp(self) -> None:
        """Set the file's time to that of the last write; mapped writes do not.

        Only the deletion of old files reads the time, so an error is not one of the
        flush. The next flush sets the time again.
        """
        if self._written_at_ns:
            stamp = self._written_at_ns
            with contextlib.suppress(OSError):
                os.utime(self.descriptor, ns=(stamp, stamp))


class DiskFiles:
    """The directory of a store; no path outside it is opened."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self._page_release = PageRelease()
        self._holes = HoleSpace(self.directory)
        self._lock_descriptor: int | None = None

    def lock(self) -> None:
        """Lock the store against other processes, Java brokers included."""
        path = self._path("lock")
        descriptor = open_for_writing(path)
        try:
            # [STORE-NAME-006]
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                text = f"another broker is running on {path.parent}"
                raise FilesError(text) from error
            raise files_error("cannot lock", path, error) from error
        self._lock_descriptor = descriptor
        try:
            os.pwrite(descriptor, _LOCK_CONTENT, 0)
        except OSError as error:
            self.unlock()
            raise files_error("cannot write", path, error) from error

    def unlock(self) -> None:
        """Release the lock."""
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def names(self, directory: str) -> list[str]:
        """Return the sorted names in *directory*; an absent one is empty."""
        try:
            return sorted(os.listdir(self._path(directory)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise files_error("cannot list", self._path(directory), error) from error

    def size(self, path: str) -> int | None:
        """Return the size of the file *path* in bytes, None where it does not exist."""
        try:
            return self._path(path).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise files_error("cannot look at", self._path(path), error) from error

    def open(self, path: str, size: int) -> DiskFile:
        """Return the file *path* mapped; a new one has *size* zeros."""
        full = self._path(path)
        if self.size(path) is None:  # `exists` is False after an error, too
            make_sized(full, size, self.directory / f"new{next(_numbers)}.tmp")
            return DiskFile(full, size, self._page_release, self._holes)
        file = DiskFile(full, size, self._page_release, self._holes)
        try:
            self._holes.require(file.descriptor, full)
        except FilesError:
            file.close()
            raise
        return file

    def delete(self, path: str) -> None:
        """Delete the file or empty directory *path*, if it exists."""
        full = self._path(path)
        try:
            if full.is_dir():
                full.rmdir()
            else:
                full.unlink(missing_ok=True)
        except OSError as error:
            raise files_error("cannot delete", full, error) from error

    def read_text(self, path: str) -> str | None:
        """Return the text of *path*, None where it does not exist."""
        return read_text(self._path(path))

    def replace_text(self, path: str, text: str) -> None:
        """Replace the content of *path* by *text*; a crash leaves either of them."""
        replace_text(self._path(path), text)

    def disk_space(self) -> tuple[int, int]:
        """Return total and free bytes of the disk; (0, 0) where that is unknown."""
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


def _close_behind(space: DiskSpace, descriptor: int) -> None:
    """Close a file once no other thread writes to it."""
    space.wait()
    os.close(descriptor)
