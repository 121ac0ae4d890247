"""
Mapped file queue: one sequence of bytes in files of equal size (Java: MappedFileQueue).

The commit log is one, and so is each consume queue. The name of a file is the offset of
its first byte. Bytes are only appended. Cleaning deletes files from the front, and
recovery truncates the tail.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from typing import NamedTuple

from reference.core.store.flush import PAGE_SIZE, has_enough_dirty_pages
from reference.core.store.mapped.files import Files, FilesError, MappedFile
from reference.core.store.recovery.load import (
    DirectoryEntry,
    describe_wrong_file,
    plan_load,
)
from reference.core.store.recovery.rules import REFERENCE
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, file_name

_SIZE_SETTINGS = {
    COMMIT_LOG: "mappedFileSizeCommitLog",
    CONSUME_QUEUE: "mappedFileSizeConsumeQueue",
}
"""Settings with the size of files, by directory of the store."""


class FlushMark(NamedTuple):
    """The files to flush, after which everything before *offset* is on disk."""

    offset: int
    files: tuple[MappedFile, ...]


class MappedFileQueue:
    """The mapped files of one directory."""

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
        self.start = -1
        """Start offset of the first file; -1 without files."""
        self.end = 0
        """Offset behind the last byte written."""
        self.limit = 0
        """Offset behind the last byte of the last file; 0 without files."""
        self.flushed = 0
        """Offset behind the last byte that was flushed."""
        self._files = files
        self._preallocates_files = preallocates_files
        self._preallocated: dict[str, MappedFile] = {}
        """By path: the next file, created before it is needed.

        A running broker has it behind the last file with messages. A clean stop deletes
        it. A start after a crash finds it empty (Java: AllocateMappedFileService).
        """
        self._mapped: list[MappedFile] = []
        self._start_offsets: list[int] = []

    def __len__(self) -> int:
        return len(self._mapped)

    @property
    def start_offsets(self) -> list[int]:
        """The start offset of each file, oldest first (Java: fileFromOffset)."""
        return list(self._start_offsets)

    def load(self) -> None:
        """Map the existing files, as if all of them were full.

        Raises FilesError for a file of another size, as 4.6.0 refuses to start.
        """
        entries = [
            DirectoryEntry(name, self._files.size(f"{self.directory}/{name}"))
            for name in self._files.names(self.directory)
        ]
        found = plan_load(entries, self.file_size, REFERENCE)
        if found.wrong_file is not None:  # [STORE-LOG-002]
            raise FilesError(self._describe(found.wrong_file))
        for name in found.names:
            path = f"{self.directory}/{name}"
            self._mapped.append(self._files.open(path, self.file_size))
            self._start_offsets.append(int(name))
        self._update_bounds()
        if self._start_offsets:
            self.end = self.flushed = self.limit

    def _describe(self, wrong_file: DirectoryEntry) -> str:
        """Return the reason why *wrong_file* prevents a start, with its setting."""
        text = describe_wrong_file(self.directory, wrong_file, self.file_size)
        setting = _SIZE_SETTINGS.get(self.directory.partition("/")[0])
        if setting is None or wrong_file.size in (None, self.file_size):
            return text
        return f"{text}, the value of {setting}"

    def file_at(self, offset: int) -> tuple[MappedFile, int] | None:
        """Return the file with the byte *offset* and its start offset, or None."""
        index = bisect_right(self._start_offsets, offset) - 1
        if index < 0 or offset >= self._start_offsets[index] + self.file_size:
            return None
        return self._mapped[index], self._start_offsets[index]

    def view(self, offset: int, size: int | None = None) -> memoryview | None:
        """Return *size* written bytes at *offset*, by default all to the file's end.

        None if no file has all of them; without *size*, also if none is written there.
        """
        index = bisect_right(self._start_offsets, offset) - 1
        if index < 0:
            return None
        start = self._start_offsets[index]
        begin, written = offset - start, min(self.end - start, self.file_size)
        end, end_min = (written, begin + 1) if size is None else (begin + size, begin)
        if begin >= self.file_size or not end_min <= end <= written:
            return None
        return self._mapped[index].view[begin:end]

    def file_data(self, start: int) -> memoryview:
        """Return the whole file that begins at *start*, written or not."""
        return self._mapped[self._start_offsets.index(start)].view

    def modified_at_ms(self, index: int) -> int:
        """Return the time of the last write to the file number *index*."""
        return self._mapped[index].modified_at_ms

    def add_file(self, start: int = 0) -> None:
        """Create the next file; the first one is the one with the offset *start*."""
        if self._start_offsets:
            start = self.limit  # [STORE-NAME-002]
        else:
            start -= start % self.file_size
        self._mapped.append(self._create_file(start))
        self._start_offsets.append(start)
        self._update_bounds()
        if self.end < start:
            self.end = self.flushed = start

    def reserve(self, size: int) -> None:
        """Allocate disk space for the next *size* bytes, or raise FilesError."""
        self._mapped[-1].reserve(self.end - self._start_offsets[-1], size)

    def append(self, data: bytes | bytearray) -> int:
        """Write *data* behind the last byte of the last file; return its offset."""
        offset = self.end
        self._mapped[-1].write(data, offset - self._start_offsets[-1])
        self.end = offset + len(data)
        return offset

    def end_file(self, blank: bytes) -> None:
        """Write *blank*; count the rest of the file as written."""
        self.append(blank)
        self.end = self.limit

    def truncate(self, offset: int) -> None:
        """Remove everything from *offset* on; the file with *offset* stays.

        Truncated bytes are set to zero. 4.6.0 leaves them in the file, where a later
        recovery may read them as new records.
        """
        while self._start_offsets and self._start_offsets[-1] > offset:
            self.delete_last()
        self.end = offset if self._start_offsets else 0
        if self.end < self.limit:
            self._mapped[-1].clear(offset - self._start_offsets[-1])  # [STORE-LOG-003]
        self.flushed = min(self.flushed, self.end)

    def delete_last(self) -> None:
        """Delete the last file."""
        self._delete(len(self._start_offsets) - 1)
        self.end = self.limit
        self.flushed = min(self.flushed, self.end)

    def delete_first(self) -> None:
        """Delete the oldest file."""
        self._delete(0)

    def destroy(self) -> None:
        """Delete all files and the directory."""
        while self._start_offsets:
            self.delete_last()
        self._files.delete(self.directory)

    def is_due(self, least_pages: int) -> bool:
        """Return whether *least_pages* dirty pages are waiting for a flush."""
        return has_enough_dirty_pages(
            self.flushed, self.end, least_pages=least_pages, file_size=self.file_size
        )

    def mark(self) -> FlushMark:
        """Return the files to flush now; another thread may flush them."""
        unflushed = [
            file
            for start, file in zip(self._start_offsets, self._mapped, strict=True)
            if start + self.file_size > self.flushed and start < self.end
        ]
        return FlushMark(self.end, tuple(unflushed if self.flushed < self.end else ()))

    def flush(self) -> None:
        """Block until everything written is on disk."""
        mark = self.mark()
        for file in mark.files:
            file.flush()
        self.on_flushed(mark)

    def on_flushed(self, mark: FlushMark) -> None:
        """Record that the files of *mark* are on disk."""
        self.flushed = max(self.flushed, min(mark.offset, self.end))

    def write_again(self) -> None:
        """Write one byte of each page that was not flushed, to make it dirty again.

        After a failed flush the system may count the pages as clean, and the next flush
        would skip them.
        """
        for file, start in zip(self._mapped, self._start_offsets, strict=True):
            begin = max(self.flushed - start, 0)
            end = min(self.end - start, self.file_size)
            for at in (*range(begin, end, PAGE_SIZE), end - 1):
                if begin <= at < end:
                    file.write(bytes(file.view[at : at + 1]), at)

    def close(self) -> None:
        """Unmap the files; delete the preallocated one."""
        for file in self._mapped:
            file.close()
        self._mapped.clear()
        self._start_offsets.clear()
        self._update_bounds()
        self._discard_preallocated()  # [STORE-LOG-012]

    def _create_file(self, start: int) -> MappedFile:
        """Return the file that begins at *start*; preallocate the one behind it."""
        path = self._path(start)
        file = self._preallocated.pop(path, None)
        file = file or self._files.open(path, self.file_size)
        self._discard_preallocated()
        if self._preallocates_files:
            path = self._path(start + self.file_size)
            with suppress(FilesError):  # the next call tries again
                file_behind = self._files.open(path, self.file_size)
                self._preallocated[path] = file_behind  # [STORE-LOG-011]
        return file

    def _discard_preallocated(self) -> None:
        """Delete the preallocated file, if there is one."""
        while self._preallocated:
            path, file = self._preallocated.popitem()
            file.close()
            self._files.delete(path)

    def _path(self, start: int) -> str:
        return f"{self.directory}/{file_name(start)}"  # [STORE-NAME-001]

    def _delete(self, index: int) -> None:
        file = self._mapped.pop(index)
        start = self._start_offsets.pop(index)
        self._update_bounds()
        file.close()
        self._files.delete(self._path(start))

    def _update_bounds(self) -> None:
        """Update `start` and `limit` after a change of the files."""
        starts = self._start_offsets
        self.start = starts[0] if starts else -1
        self.limit = starts[-1] + self.file_size if starts else 0
