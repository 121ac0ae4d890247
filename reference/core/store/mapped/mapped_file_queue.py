"""
A file queue is one long row of bytes, cut into files of equal size.

The commit log is one, and so is each consume queue. A file is named after the
offset of its first byte, so an offset says which file and where in it. Bytes are
only ever appended; whole files go at the front when they are old, and the tail
goes when recovery does not trust it (Java: MappedFileQueue).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from reference.core.store.flush.flush_policy import PAGE_SIZE, has_enough_dirty_pages
from reference.core.store.mapped.files import Files, FilesError, MappedFile
from reference.core.store.mapped.preallocated_file import PreallocatedFile
from reference.core.store.recovery.load import (
    DirectoryEntry,
    describe_wrong_file,
    plan_load,
)
from reference.core.store.recovery.rules import REFERENCE
from spec.store.file_names import file_name


class FlushMark(NamedTuple):
    """What has to be flushed to bring everything up to *offset* to disk."""

    offset: int
    files: tuple[MappedFile, ...]


class MappedFileQueue:
    """The mapped files of one directory, and how far they are written."""

    def __init__(
        self,
        files: Files,
        directory: str,
        file_size: int,
        *,
        preallocates_files: bool = False,
    ) -> None:
        self.directory = directory
        self.file_size = file_size
        self.end = 0
        """Offset behind the last byte written."""
        self.flushed = 0
        """Offset behind the last byte that is known to be on disk."""
        self._files = files
        self._spare = PreallocatedFile(files, file_size) if preallocates_files else None
        self._mapped: list[MappedFile] = []
        self._bases: list[int] = []

    def __len__(self) -> int:
        return len(self._mapped)

    @property
    def bases(self) -> list[int]:
        """The offsets at which the files begin, oldest first."""
        return list(self._bases)

    @property
    def start(self) -> int:
        """Offset of the first byte that there is; -1 without files."""
        return self._bases[0] if self._bases else -1

    def load(self) -> None:
        """Map the files that are there, as if all of them were full.

        Raises FilesError for a file of another size, as 4.6.0 refuses to start.
        """
        names = self._files.names(self.directory)
        entries = [
            DirectoryEntry(one, self._files.size(f"{self.directory}/{one}"))
            for one in names
        ]
        found = plan_load(entries, self.file_size, REFERENCE)
        if found.wrong_file is not None:  # [STORE-LOG-002]
            raise FilesError(
                describe_wrong_file(self.directory, found.wrong_file, self.file_size)
            )
        for name in found.names:
            path = f"{self.directory}/{name}"
            self._mapped.append(self._files.open(path, self.file_size))
            self._bases.append(int(name))
        if self._bases:
            self.end = self.flushed = self._bases[-1] + self.file_size

    def file_at(self, offset: int) -> tuple[MappedFile, int] | None:
        """Return the file that has the byte *offset*, and the file's first offset."""
        index = bisect_right(self._bases, offset) - 1
        if index < 0 or offset >= self._bases[index] + self.file_size:
            return None
        return self._mapped[index], self._bases[index]

    def view(self, offset: int, size: int) -> memoryview | None:
        """Return *size* written bytes at *offset*, None if no file has them all."""
        found = self.file_at(offset)
        if found is None:
            return None
        file, base = found
        position = offset - base
        if size < 0 or position + size > min(self.end - base, self.file_size):
            return None
        return file.view[position : position + size]

    def view_from(self, offset: int) -> memoryview | None:
        """Return what is written at *offset* and behind it in the same file."""
        found = self.file_at(offset)
        if found is None:
            return None
        file, base = found
        readable = min(self.end - base, self.file_size)
        return file.view[offset - base : readable] if offset - base < readable else None

    def modified_at_ms(self, index: int) -> int:
        """Return when the file number *index* was last written."""
        return self._mapped[index].modified_at_ms

    def space(self) -> int:
        """Return the bytes that are left in the last file; 0 without one."""
        return self._bases[-1] + self.file_size - self.end if self._bases else 0

    def add_file(self, start: int = 0) -> None:
        """Make the next file; the first one is that which has the offset *start*."""
        if self._bases:
            base = self._bases[-1] + self.file_size  # [STORE-NAME-002]
        else:
            base = start - start % self.file_size
        self._mapped.append(self._opened(base))
        self._bases.append(base)
        if self.end < base:
            self.end = self.flushed = base

    def reserve(self, size: int) -> None:
        """Have the disk keep space for the next *size* bytes, or raise FilesError."""
        self._mapped[-1].reserve(self.end - self._bases[-1], size)

    def append(self, data: bytes | bytearray) -> int:
        """Write *data* behind the last byte, where there is room; return the offset."""
        offset = self.end
        self._mapped[-1].write(data, offset - self._bases[-1])
        self.end = offset + len(data)
        return offset

    def end_file(self, blank: bytes) -> None:
        """Write *blank*; count the rest of the file as written, whatever it holds."""
        self.append(blank)
        self.end += self.space()

    def truncate(self, offset: int) -> None:
        """Forget everything from *offset* on; the file that has it stays.

        What is forgotten is also cleared: 4.6.0 leaves it in the file, where a later
        recovery may take it for new.
        """
        while self._bases and self._bases[-1] > offset:
            self.delete_last()
        self.end = offset if self._bases else 0
        if self.space() > 0:
            self._mapped[-1].clear(offset - self._bases[-1])  # [STORE-LOG-003]
        self.flushed = min(self.flushed, self.end)

    def delete_last(self) -> None:
        """Delete the last file."""
        self._delete(len(self._bases) - 1)
        self.end = self._bases[-1] + self.file_size if self._bases else 0
        self.flushed = min(self.flushed, self.end)

    def delete_first(self) -> None:
        """Delete the oldest file."""
        self._delete(0)

    def destroy(self) -> None:
        """Delete all files and the directory."""
        while self._bases:
            self.delete_last()
        self._files.delete(self.directory)

    def is_due(self, least_pages: int) -> bool:
        """Return whether enough waits for a flush."""
        return has_enough_dirty_pages(
            self.flushed, self.end, least_pages=least_pages, file_size=self.file_size
        )

    def mark(self) -> FlushMark:
        """Return what a flush has to do now; another thread may do it."""
        unflushed = [
            file
            for base, file in zip(self._bases, self._mapped, strict=True)
            if base + self.file_size > self.flushed and base < self.end
        ]
        return FlushMark(self.end, tuple(unflushed if self.flushed < self.end else ()))

    def flush(self) -> None:
        """Return when everything written is on disk."""
        mark = self.mark()
        for file in mark.files:
            file.flush()
        self.has_flushed(mark)

    def has_flushed(self, mark: FlushMark) -> None:
        """Note that *mark* was done."""
        self.flushed = max(self.flushed, min(mark.offset, self.end))

    def write_again(self) -> None:
        """Write what is not known to be on disk once more, one byte of each page.

        After a flush that failed, the system may take the pages for clean, and would
        not try again.
        """
        for file, base in zip(self._mapped, self._bases, strict=True):
            begin = max(self.flushed - base, 0)
            end = min(self.end - base, self.file_size)
            for at in (*range(begin, end, PAGE_SIZE), end - 1):
                if begin <= at < end:
                    file.write(bytes(file.view[at : at + 1]), at)

    def close(self) -> None:
        """Give the mappings back."""
        for file in self._mapped:
            file.close()
        self._mapped.clear()
        self._bases.clear()
        if self._spare is not None:
            self._spare.discard()  # [STORE-LOG-012]

    def _opened(self, base: int) -> MappedFile:
        """Return the file that begins at *base*; the one behind it is made ready."""
        path = self._path(base)
        if self._spare is None:
            return self._files.open(path, self.file_size)
        file = self._spare.take(path)
        self._spare.prepare(self._path(base + self.file_size))  # [STORE-LOG-011]
        return file

    def _path(self, base: int) -> str:
        return f"{self.directory}/{file_name(base)}"  # [STORE-NAME-001]

    def _delete(self, index: int) -> None:
        file = self._mapped.pop(index)
        base = self._bases.pop(index)
        file.close()
        self._files.delete(self._path(base))
