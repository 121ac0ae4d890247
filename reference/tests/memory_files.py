"""A store's files in memory, for tests without a disk."""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.mapped.files import WORD_SIZE, FilesError


class MemoryFile:
    """A mapped file without a disk."""

    holes_take_space = False

    def __init__(self, size: int, files: MemoryFiles) -> None:
        self.size = size
        self.bytes = bytearray(size)
        self.view = memoryview(self.bytes).toreadonly()
        self._files = files
        self._end = 0
        self._reserved = 0
        self.modified_at_ms = files.now_ms

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write *data* at *at*."""
        end = at + len(data)
        if not 0 <= at <= end <= self.size:
            raise FilesError(f"bytes {at} to {end} are not in a file of {self.size}")
        reserved = min(self._reserved, len(data))
        self._files.spend(len(data) - reserved)
        self._reserved -= reserved
        self.bytes[at:end] = data
        self._end = max(self._end, end)
        self.modified_at_ms = self._files.now_ms

    def write_words(self, words: bytes, places: Sequence[int]) -> None:
        """Write four bytes of *words* at each place."""
        self._files.spend(len(words))
        self._reserved += len(words)
        for number, at in enumerate(places):
            self.write(words[WORD_SIZE * number :][:WORD_SIZE], at)

    def reserve(self, at: int, size: int) -> None:
        """Allocate space for *size* bytes more."""
        if not 0 <= at <= at + size <= self.size:
            raise FilesError(f"{size} bytes at {at} are not in a file of {self.size}")
        self._files.spend(size)
        self._reserved += size

    def clear(self, at: int) -> None:
        """Make all bytes from *at* on zero."""
        if at < self._end:
            self.bytes[at : self._end] = bytes(self._end - at)
            self._end = at

    def flush(self) -> None:
        """Do nothing: memory has no disk."""

    def close(self) -> None:
        """Do nothing: the bytes stay until the file is deleted."""


class MemoryFiles:
    """A directory in memory, which outlives the store that wrote it."""

    def __init__(self, space: int | None = None) -> None:
        self.mapped: dict[str, MemoryFile] = {}
        self.texts: dict[str, str] = {}
        self.space = space
        """Bytes that may still be written; None for no limit."""
        self.now_ms = 2**62
        """Modification time of the next writes."""
        self._is_locked = False

    def spend(self, size: int) -> None:
        """Use *size* bytes of the space, or raise FilesError."""
        if self.space is not None:
            if size > self.space:
                raise FilesError(f"no space left for {size} bytes")
            self.space -= size

    def lock(self) -> None:
        """Lock the directory against other stores."""
        if self._is_locked:
            raise FilesError("another store uses these files")
        self._is_locked = True

    def unlock(self) -> None:
        """Release the lock."""
        self._is_locked = False

    def names(self, directory: str) -> list[str]:
        """Return the sorted names in *directory*."""
        prefix = directory + "/"
        paths = [
            path for path in (*self.mapped, *self.texts) if path.startswith(prefix)
        ]
        return sorted({path.removeprefix(prefix).split("/")[0] for path in paths})

    def size(self, path: str) -> int | None:
        """Return the size of *path*; None if it does not exist."""
        if path in self.texts:
            return len(self.texts[path].encode())
        file = self.mapped.get(path)
        return file.size if file else None

    def open(self, path: str, size: int) -> MemoryFile:
        """Return the file *path*; create it if it does not exist."""
        file = self.mapped.get(path)
        if file is None:
            file = self.mapped[path] = MemoryFile(size, self)
        if file.size < size:
            longer = self.mapped[path] = MemoryFile(size, self)
            longer.write(file.bytes, 0)
            return longer
        return file

    def delete(self, path: str) -> None:
        """Delete *path* if it exists."""
        self.mapped.pop(path, None)
        self.texts.pop(path, None)

    def read_text(self, path: str) -> str | None:
        """Return the text of *path*."""
        return self.texts.get(path)

    def replace_text(self, path: str, text: str) -> None:
        """Make *text* the content of *path*."""
        self.spend(len(text))
        self.texts[path] = text

    def disk_space(self) -> tuple[int, int]:
        """Return zeros: there is no disk."""
        return 0, 0
